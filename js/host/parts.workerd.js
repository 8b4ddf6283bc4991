// @ts-check
/** Small modules for hosts that load over a network; none in workerd, which has all modules before a worker begins. */

export const parts = undefined;
