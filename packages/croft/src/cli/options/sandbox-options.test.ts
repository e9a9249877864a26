import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { defaultSandboxOptions } from '../../app/app.ts';
import { describeOpenings, toSandboxOptions } from './sandbox-options.ts';

/** Directories beside each other: two workspaces, the data directory, a home and one that belongs to none of them. */
function makeFixture() {
  const fixture = makeDirectory({ 'file.txt': 'x' });
  onTestFinished(() => fixture[Symbol.dispose]());
  for (const name of ['one/sub', 'two', 'data/caches', 'home/tools', 'shared'])
    mkdirSync(fixture.at(name), { recursive: true });
  const kept = {
    workspaces: [fixture.at('one'), fixture.at('two')],
    data: fixture.at('data'),
    home: fixture.at('home'),
  };
  return { at: fixture.at, path: fixture.path, kept };
}

type Flags = Parameters<typeof toSandboxOptions>[0];

const parse = (flags: Flags) => toSandboxOptions(flags, makeFixture().kept);

describe('--network', () => {
  test('is deny-all by default', () => {
    const { kept } = makeFixture();
    expect(toSandboxOptions({}, kept)).toEqual({ ...defaultSandboxOptions, caches: join(kept.data, 'caches') });
    expect(parse({}).network).toEqual({ mode: 'deny-all' });
    expect(parse({ network: 'allow-all' }).network).toEqual({ mode: 'allow-all' });
  });

  test('is restricted to the allowed hosts as soon as one is allowed', () => {
    const network = { mode: 'restricted', domains: ['example.com', '*.example.org:8443'], cidrs: ['10.1.0.0/16'] };
    const flags = { 'allow-domain': ['Example.COM.', '*.example.org:8443'], 'allow-cidr': ['10.1.0.0/16'] };
    expect(parse(flags).network).toEqual(network);
    expect(parse({ ...flags, network: 'restricted' }).network).toEqual(network);
    expect(parse({ network: 'restricted' }).network).toEqual({ mode: 'restricted', domains: [], cidrs: [] });
  });

  test.each<[Flags, RegExp]>([
    [{ network: 'open' }, /^--network takes one of deny-all, restricted, allow-all; not "open"$/],
    [{ network: '' }, /^--network takes one of .*; not ""$/],
    [{ network: 'deny-all', 'allow-domain': ['a.com'] }, /^--allow-domain .* --network restricted, not with deny-all$/],
    [{ network: 'allow-all', 'allow-cidr': ['10.0.0.0/8'] }, /^--allow-domain and --allow-cidr .* with allow-all$/],
    [{ 'allow-domain': ['*'] }, /^--allow-domain: "\*" would allow every domain/],
    [{ 'allow-domain': ['ok.com', 'https://a.com/'] }, /^--allow-domain: "https:\/\/a.com\/" is not a domain/],
    [{ 'allow-domain': [''] }, /^--allow-domain: "" is not a domain/],
    [{ 'allow-cidr': ['example.com'] }, /^--allow-cidr: "example.com" is not a CIDR/],
  ])('refuses %j', (flags, message) => {
    expect(() => parse(flags)).toThrow(expect.objectContaining({ name: 'UsageError' }));
    expect(() => parse(flags)).toThrow(message);
  });
});

describe('--sandbox', () => {
  test('none is accepted with an open network, and the opening is described', () => {
    const options = parse({ sandbox: 'none', network: 'allow-all' });
    expect(options).toMatchObject({ provider: 'none', network: { mode: 'allow-all' } });
    expect(options).not.toHaveProperty('caches');
    expect(describeOpenings(options)).toEqual([
      expect.stringMatching(/^commands run on this machine without isolation \(--sandbox none\)/),
      expect.stringContaining('--network allow-all'),
    ]);
  });

  test('a complete fence has no openings to describe', () => {
    expect(describeOpenings(parse({}))).toEqual([]);
    expect(describeOpenings(parse({ 'allow-domain': ['example.com'] }))).toEqual([]);
  });

  test.each<[Flags, RegExp]>([
    [{ sandbox: 'podman' }, /^--sandbox takes one of bubblewrap, docker, none; not "podman"$/],
    [{ 'docker-image': 'debian' }, /^--docker-image goes with --sandbox docker, not with bubblewrap$/],
    [{ sandbox: 'toString' }, /^--sandbox takes one of/],
    [{ sandbox: 'none' }, /^--sandbox none cannot hold the network policy deny-all; add --network allow-all/],
    [{ sandbox: 'none', 'allow-domain': ['a.com'] }, /^--sandbox none cannot hold the network policy restricted; add/],
  ])('refuses %j', (flags, message) => {
    expect(() => parse(flags)).toThrow(message);
  });
});

test('caches are off when a command could replace them by a link', () => {
  const { at, kept } = makeFixture();
  symlinkSync(at('one'), at('link'));
  for (const data of [at('one'), at('one/sub/data'), at('link/data')])
    expect(toSandboxOptions({}, { ...kept, data })).not.toHaveProperty('caches');
  expect(toSandboxOptions({}, { ...kept, data: at('one-more') })).toHaveProperty('caches');
});

describe('--limit', () => {
  test('changes the named limits and leaves the others', () => {
    const limit = ['memory=512m', 'cpus=0.5', 'processes=64', 'open-files=100', 'file=1g', 'disk=1.5g', 'cpus=1'];
    expect(parse({ limit }).limits).toEqual({
      memoryBytes: 512 * 1024 ** 2,
      cpus: 1,
      processes: 64,
      openFiles: 100,
      fileBytes: 1024 ** 3,
      diskBytes: 1.5 * 1024 ** 3,
    });
    expect(parse({ limit: ['processes=64'] }).limits).toEqual({ ...defaultSandboxOptions.limits, processes: 64 });
  });

  test.each(['swap=1g', '=1g', 'memory', '', 'Memory=1g', 'memoryBytes=1g', 'constructor=1', ' memory=1g'])(
    'refuses %j and lists the known limits',
    (written) => {
      const names = 'memory, disk, file, processes, cpus, open-files';
      expect(() => parse({ limit: [written] })).toThrow(
        `--limit takes NAME=VALUE, where NAME is one of ${names}; not "${written}"`,
      );
    },
  );

  test.each([
    ['memory=', 'a size of 1m or more'],
    ['memory=512', 'a size of 1m or more'],
    ['memory=-1g', 'a size of 1m or more'],
    ['disk=lots', 'a size of 1m or more'],
    ['file=1g=2g', 'a size of 1m or more'],
    ['processes=0', 'a whole number of 1 or more'],
    ['processes=1.5', 'a whole number of 1 or more'],
    ['open-files=1k', 'a whole number of 1 or more'],
    ['cpus=0', 'a number such as 2 or 0.5'],
    ['cpus=all', 'a number such as 2 or 0.5'],
    ['cpus=1e3', 'a number such as 2 or 0.5'],
  ])('refuses %j and names the values that it takes', (written, form) => {
    const [name] = written.split('=');
    expect(() => parse({ limit: [written] })).toThrow(`--limit ${name} takes ${form}`);
  });
});

describe('--allow-read', () => {
  test('resolves directories to their real paths', () => {
    const { at, kept } = makeFixture();
    symlinkSync('/usr/share', at('link'));
    const written = [at('link'), '/usr/share/../share', '/usr/lib'];
    expect(toSandboxOptions({ 'allow-read': written }, kept).readable).toEqual(['/usr/share', '/usr/lib']);
  });

  test.each(['gone', 'file.txt', ''])('refuses %j because it is not a directory', (name) => {
    const { at, kept } = makeFixture();
    const written = name === '' ? '' : at(name);
    expect(() => toSandboxOptions({ 'allow-read': [written] }, kept)).toThrow(
      `--allow-read takes a directory that is there, not "${written}"`,
    );
  });

  test.each(['.', 'one', 'data', 'home'])('refuses %j because it would open protected data', (name) => {
    const { at, kept } = makeFixture();
    expect(() => toSandboxOptions({ 'allow-read': [at(name)] }, kept)).toThrow(/^--allow-read .* would open ".*" too/);
  });

  test.each(['one/sub', 'data/caches'])('refuses %j because a command could put a link in its place', (name) => {
    const { at, kept } = makeFixture();
    expect(() => toSandboxOptions({ 'allow-read': [at(name)] }, kept)).toThrow(/^--allow-read .* is inside "/);
  });

  test.each(['/', '/usr/..'])('refuses %s because it is the whole machine', (path) => {
    const { kept } = makeFixture();
    expect(() => toSandboxOptions({ 'allow-read': [path] }, kept)).toThrow('"/" would open all of this machine');
  });

  test.each(['/proc', '/proc/self', '/sys', '/dev', '/etc', '/var'])(
    'refuses %s because a sandbox has its own',
    (path) => {
      const kept = { workspaces: ['/no/such/workspace'], data: '/no/such/data', home: '/no/such/home' };
      expect(() => toSandboxOptions({ 'allow-read': [path] }, kept)).toThrow(/ overlaps .*; name another directory$/);
    },
  );

  test('accepts a directory whose name only begins like a protected one', () => {
    const kept = { workspaces: ['/usr/shared', '/usr/share-more'], data: '/usr/sh', home: '/usr/share.d' };
    expect(toSandboxOptions({ 'allow-read': ['/usr/share'] }, kept).readable).toEqual(['/usr/share']);
  });

  test('follows links to protected data, also when the data directory does not exist yet', () => {
    const { at, path, kept } = makeFixture();
    symlinkSync(path, at('around'));
    symlinkSync(at('shared'), at('later'));
    const refused = / would open /;
    expect(() => toSandboxOptions({ 'allow-read': [at('around')] }, kept)).toThrow(refused);
    expect(() => toSandboxOptions({ 'allow-read': [at('shared')] }, { ...kept, data: at('later/not/yet') })).toThrow(
      refused,
    );
  });
});

describe('--allow-control', () => {
  test('takes each name of a control file once, and describes the opening', () => {
    const { allowControl } = parse({ 'allow-control': ['.vscode', '.git/hooks', '.vscode'] });
    expect(allowControl).toEqual(['.vscode', '.git/hooks']);
    expect(describeOpenings(parse({ 'allow-control': ['.vscode'] }))).toEqual([
      expect.stringContaining('agents may change .vscode'),
    ]);
  });

  test.each(['.git', '.git/commondir', '', 'vscode', '.envrc'])('refuses %j', (name) => {
    expect(() => parse({ 'allow-control': [name] })).toThrow('--allow-control takes one of');
  });
});
