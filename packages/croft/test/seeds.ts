import fc from 'fast-check';

/**
 * Property tests draw the same cases every time, so that what fails was broken by the change at hand and fails for
 * whoever looks into it. To search for new cases: `CROFT_SEED=random npx vitest run FILE`, or a number to see one again.
 */
const { CROFT_SEED: said = '20261116' } = process.env;
const seed = said === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(said);
if (!Number.isSafeInteger(seed)) throw new Error(`CROFT_SEED is a whole number or "random", not "${said}"`);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
