import { Croft } from '@croft/sdk';

const croft = new Croft();
await using box = await croft.open('notes');
const { exitCode } = await box.exec('echo broken > notes.md; exit 1');
if (exitCode) await box.undo();
console.log(`exit ${exitCode}: the files are as they were`);
