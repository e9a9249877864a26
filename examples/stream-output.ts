import { Croft } from '@croft/sdk';

const croft = new Croft();
await using box = await croft.open('notes');
for await (const { stream, text } of box.exec('for n in 1 2 3; do echo $n; done'))
  for (const line of text.trimEnd().split('\n')) console.log(`${stream}: ${line}`);
