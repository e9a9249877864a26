import { expect, onTestFinished, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { findRegistrySettings, withoutCredentials } from './registry-settings.ts';

test.each([
  ['https://ada:s3cret@host/x', 'https://host/x'],
  ['https://s3cret@host/x', 'https://host/x'],
  ['HTTPS://ada:s3cret@host', 'HTTPS://host'],
  ['https://ada:s3cret%40x@host/', 'https://host/'],
  ['https://ada:p@s3cret@host/@scope/x', 'https://host/@scope/x'],
  // Passwords may contain quotes.
  ["https://ada:p's3cret@host/", 'https://host/'],
  ['https://ada:p"s3cret@host/', 'https://host/'],
  // Node, and so npm, also reads these forms as URLs.
  ['https:/ada:s3cret@host/', 'https:/host/'],
  ['https:ada:s3cret@host/', 'https:host/'],
  ['https:\\\\ada:s3cret@host/', 'https:\\\\host/'],
  ['https://host/simple?token=s3cret', 'https://host/simple'],
  ['"sparse+https://u:s3cret@host/?a=s3cret&b=1"', '"sparse+https://host/"'],
  ['https://u:s3cret@a.example,https://s3cret@b.example|direct', 'https://a.example,https://b.example|direct'],
  ['https://a.example?k=s3cret,direct', 'https://a.example,direct'],
  ['corp=https://u:s3cret@host/simple', 'corp=https://host/simple'],
  ['https://host/@scope/x', 'https://host/@scope/x'],
])('%s', (text, clean) => {
  expect(withoutCredentials(text)).toBe(clean);
});

function settingsOf(tree: Record<string, string>, variables = {}) {
  const fixture = makeDirectory({ 'home/a': '', ...tree });
  onTestFinished(() => fixture[Symbol.dispose]());
  const { environment, files } = findRegistrySettings({ home: fixture.at('home'), variables });
  const text = (name: string) => files.find(({ target }) => target.endsWith(name))?.content ?? '';
  return { environment, text };
}

test('a comment beside an address is left out', () => {
  const { text } = settingsOf({
    'home/.npmrc': 'registry=https://npm.example/ ; s3cret\n@a:registry="https://a.example/"\n',
    'home/.cargo/config.toml': '[registries.corp]\nindex = "sparse+https://c.example/" # s3cret\n',
    'home/.config/pip/pip.conf': '[global]\nindex-url = https://pip.example/ # s3cret\n',
  });
  expect(text('npmrc')).toBe('registry=https://npm.example/\n@a:registry="https://a.example/"\n');
  expect(text('config.toml')).toBe('[registries.corp]\nindex = "sparse+https://c.example/"\n');
  expect(text('pip.conf')).toContain('index-url = https://pip.example/\n');
  expect(text('pip.conf')).not.toContain('s3cret');
});

test('pip gets the addresses of its indexes, also those on several lines', () => {
  const conf = [
    ...['[global]', 'extra_index_url =', '    https://u:s3cret@a.example/', '    https://b.example/'],
    ...['proxy =', '    http://u:s3cret@proxy.example/', '[install]', 'no-index = true', 'password = s3cret'],
  ];
  const { text } = settingsOf({ 'home/.config/pip/pip.conf': conf.join('\n') });
  expect(text('pip.conf').replace(/^\[global\]\n(?:index-url.*\n)?/, '')).toBe(
    'extra_index_url =\n    https://a.example/\n    https://b.example/\nno-index = true\n',
  );
});

test('a setting that pip has twice is written once, because pip refuses a file with duplicates', () => {
  const { text } = settingsOf({
    'home/.pip/pip.conf': '[global]\nindex-url = https://a.example/\n',
    'home/.config/pip/pip.conf':
      '[global]\nindex-url = https://b.example/\n[install]\nindex_url = https://c.example/\n',
  });
  expect(text('pip.conf').match(/index.url.*/g)).toEqual(['index_url = https://c.example/']);
});

test('mirrors of Maven keep plain addresses, and credentials in any spelling are left out', () => {
  const mirror = (url: string) => `<mirror><id>x</id><url>${url}</url><mirrorOf>*</mirrorOf></mirror>`;
  const { text } = settingsOf({
    'home/.m2/settings.xml': `<settings><mirrors>${[
      ...['https&#58;//u:s3cret@a.example/', 'https://$' + '{env.U}:$' + '{env.P}@b.example/'].map(mirror),
      ...['https://c.example/$' + '{env.TOKEN}/', 'https://d.example/?k=s3cret&amp;l=1'].map(mirror),
    ].join('')}</mirrors></settings>`,
  });
  expect([...text('settings.xml').matchAll(/<url>(.*?)<\/url>/g)].map(([, url]) => url)).toEqual([
    ...['https://b.example/', 'https://d.example/'],
  ]);
  expect(text('settings.xml')).not.toContain('s3cret');
});
