import { createFakeCroft } from '@croft/sdk/testing';

const fake = createFakeCroft();
fake.command('npm run deploy', { stdout: 'deployed\n' });
await using box = await fake.croft.open('notes', { sandbox: { permissionMode: 'ask' } });
const deploying = box.exec('npm run deploy').catch(() => console.log('the deployment was refused'));
await fake.deny.next({ reason: 'on a Friday?' });
await deploying;
