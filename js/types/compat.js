// What callers name is all in compat.d.ts: of types nothing is left when a program runs.
export {};
