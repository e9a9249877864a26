import { describe, expect, test } from 'vitest';
import { toPersonal } from './personal-options.ts';

const parse = (flags: Parameters<typeof toPersonal>[0], isOpen = false) =>
  toPersonal(flags, { variables: { SET: 'own', EMPTY: '', CROFT_TOKEN: 'secret' }, isOpen });

describe('--env', () => {
  test('takes a given value, or the variable of the croft process', () => {
    const env = ['SET', 'EMPTY', 'GIVEN=a=b\nc', 'NONE=', 'LD_LIBRARY_PATH=/opt/lib', 'SET=last'];
    const environment = { SET: 'last', EMPTY: '', GIVEN: 'a=b\nc', NONE: '', LD_LIBRARY_PATH: '/opt/lib' };
    expect(parse({ env })).toEqual({ environment });
    expect(parse({})).toEqual({ environment: {} });
    expect(parse({ env: ['https_proxy=http://p'] }, true).environment).toEqual({ https_proxy: 'http://p' });
  });

  test.each([
    ['LD_PRELOAD=/tmp/x.so', /^--env LD_PRELOAD would put code into every program/],
    ['LD_AUDIT=x', /^--env LD_AUDIT would put code into every program/],
    ['BASH_ENV=x', /^--env BASH_ENV would change how every command line is read/],
    ['BASH_FUNC_ls%%=x', /^--env takes NAME or NAME=VALUE/],
    ['PATH=/x', /^--env PATH is made of the PATH that croft was started with: .*--allow-read/],
    ['HOME=/x', /^--env HOME is the sandbox’s own/],
    ['CROFT_TOKEN', /^--env CROFT_TOKEN is for croft alone; .*--secrets-dir/],
    ['https_proxy=http://p', /^--env https_proxy is how the sandbox leads to its network; see --network/],
    ['NOT_SET', /^--env NOT_SET: croft was started without it; set it there, or write NOT_SET=VALUE/],
    ['A-B=1', /^--env takes NAME or NAME=VALUE.*not "A-B=1"/],
    ['=1', /^--env takes NAME or NAME=VALUE/],
    ['', /^--env takes NAME or NAME=VALUE/],
  ])('refuses %j', (written, message) => {
    expect(() => parse({ env: [written] })).toThrow(expect.objectContaining({ name: 'UsageError' }));
    expect(() => parse({ env: [written] })).toThrow(message);
  });
});

describe('--git-identity', () => {
  test('takes a name with an address, or the word none', () => {
    const identity = (written: string) => parse({ 'git-identity': written }).gitIdentity;
    expect(identity(' Ada  King <ada@example.com> ')).toEqual({ name: 'Ada  King', email: 'ada@example.com' });
    expect(identity('none')).toBe('none');
  });

  test.each(['', 'Ada', '<ada@example.com>', 'Ada <>', 'Ada <a b>', 'A\nda <a@b>', 'Ada <a@b> c', 'Ada <<a@b>'])(
    'refuses %j',
    (written) => {
      expect(() => parse({ 'git-identity': written })).toThrow(/^--git-identity takes "Name <address>" or none, not "/);
    },
  );
});
