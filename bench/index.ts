export { create } from './create.ts';
export { exec } from './exec.ts';
export { files } from './files.ts';
export { idle } from './idle.ts';
