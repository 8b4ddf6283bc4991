// What callers name is all in index.d.ts: of types nothing is left when a program runs.
export {};
