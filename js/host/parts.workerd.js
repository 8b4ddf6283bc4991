// @ts-check
/** Modules for who loads over a network: workerd has all of them before a worker begins. */

export const parts = undefined;
