import { createCroft } from 'croft';

await using croft = await createCroft();
await using box = await croft.open('notes');
const { stdout } = await box.exec('echo hello from inside');
console.log(stdout.trimEnd());
