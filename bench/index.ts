export { create } from './create.ts';
export { exec } from './exec.ts';
export { files } from './files.ts';
export { idle } from './idle.ts';
export { remote } from './remote.ts';
export { s3 } from './s3.ts';
export { server } from './server.ts';
export { snapshot } from './snapshot.ts';
