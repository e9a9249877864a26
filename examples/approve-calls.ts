import { Croft } from '@croft/sdk';

const croft = new Croft();
await using box = await croft.open('notes', { sandbox: { permissionMode: 'ask' } });
const command = box.exec('echo careful');
for await (const { approval } of croft.approvals.watch()) {
  const { args } = approval.input as { readonly args: readonly string[] };
  await croft.approvals.approve(approval.approvalId);
  console.log(`approved ${approval.tool}: ${args.at(-1)}`);
  break;
}
console.log((await command).stdout.trimEnd());
