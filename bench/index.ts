export { exec } from './exec.ts';
export { files } from './files.ts';
