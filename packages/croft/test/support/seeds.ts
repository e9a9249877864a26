import fc from 'fast-check';

/**
 * Property tests use the same cases every time, so that a failure comes from the change at hand and repeats for
 * everyone. `CROFT_SEED=random npx vitest run FILE` searches for new cases; a number repeats one.
 */
const { CROFT_SEED: said = '20261116' } = process.env;
const seed = said === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(said);
if (!Number.isSafeInteger(seed)) throw new Error(`CROFT_SEED is a whole number or "random", not "${said}"`);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
