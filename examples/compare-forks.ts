import { Croft } from '@croft/sdk';

const croft = new Croft();
await using box = await croft.open('notes');
await using fast = await box.fork('fast');
await using slow = await box.fork('slow');
const tried = await Promise.all([fast.exec('echo fast > how.txt'), slow.exec('echo slow > how.txt; exit 1')]);
const [one, other] = tried.map(({ exitCode }) => (exitCode === 0 ? 'passed' : 'failed'));
await box.merge(fast);
console.log(`fast ${one}, slow ${other}: merged ${(await box.files.read('how.txt')).trim()}`);
