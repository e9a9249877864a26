import { join } from 'node:path';
import { packageDirectory } from '../../src/lib/package-directory.ts';

/** Programs that tests start from sources share what Node compiled of them: a start takes less than half the time. */
process.env.NODE_COMPILE_CACHE ??= join(packageDirectory, '../../node_modules/.cache/croft-tests');
