import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makePerson, run, startRegistry } from '../support/person-home.ts';
import { hasToolchains } from '../support/toolchains.ts';

const hasNode = await hasToolchains('node');
const manifest = '{"name":"w","version":"1.0.0","dependencies":{"@private/one":"1.0.0"}}';

test.runIf(hasNode)('the token in the cache of npm is not shown, and the package is', async () => {
  // npm notes every header that an answer varies by, and so the token of a registry that says `Vary: Authorization`.
  const url = await startRegistry({ vary: 'authorization' });
  const person = makePerson({
    'workspace/package.json': manifest,
    'home/.npmrc': `registry=${url}/\n${url.slice('http:'.length)}/:_authToken=s3cret-token\n`,
  });
  await person.onHost(['npm', 'install', '--no-audit', '--no-fund']);
  rmSync(person.at('workspace/node_modules'), { recursive: true });
  const noted = await run('grep', ['-rl', 's3cret-token', person.at('home/.npm/_cacache')]);
  expect(noted.stdout).toContain('index-v5');
  const output = await person.bash(
    'npm ci --offline --no-audit --no-fund >/dev/null; node -p \'require("@private/one")\'; grep -rl s3cret-token /run/croft ~',
  );
  expect(output).toBe('from the cache\nexit: 1\n');
});

test('the password in the repository of Maven is not shown, and the packages are', async () => {
  const note = 'http\\://ada\\:s3cret@maven.example/.lastUpdated=1\n';
  const person = makePerson({
    'workspace/pom.xml': '',
    'home/.m2/repository/no/such/1/such-1.jar.lastUpdated': note,
    'home/.m2/repository/no/such/resolver-status.properties': note,
    'home/.m2/repository/one/1/one-1.jar': 'from the cache',
    'home/.m2/repository/one/1/one-1.pom.lastUpdated': 'https\\://maven.example/.lastUpdated=1\n',
  });
  expect(await person.bash('cat ~/.m2/repository/one/1/*; ls ~/.m2/repository/no/such')).toMatch(
    /^from the cachehttps.*\n1\nresolver-status.properties\n$/,
  );
  expect(await person.bash('grep -Rs s3cret /run/croft ~/.m2')).toBe('exit: 1\n');
});

test('a link in a cache below the workspace does not lead outside', async () => {
  const person = makePerson({ 'workspace/.gradle/caches/a': '', 'secret/key': 's3cret' });
  symlinkSync(person.at('secret'), person.at('workspace/.gradle/caches/modules-2'));
  const output = await person.bash('find /run/croft/caches -name key 2>/dev/null | xargs cat; echo end', {
    GRADLE_USER_HOME: person.at('workspace/.gradle'),
  });
  expect(output).toBe('end\n');
});

test('a cache with the workspace in its path does not lead outside', async () => {
  const person = makePerson({ 'workspace/pom.xml': '', 'secret/repository/key': 's3cret' });
  symlinkSync(person.at('secret'), person.at('workspace/m2'));
  symlinkSync(person.at('workspace/m2'), person.at('home/.m2'));
  expect(await person.bash('find /run/croft/caches -name key 2>/dev/null | xargs cat; echo end')).toBe('end\n');
});

test('programs in the workspace can be run, and a link in their place does not lead outside', async () => {
  const person = makePerson({
    'workspace/bin/tool': '#!/bin/sh\necho ran',
    'secret/key': 's3cret',
    'home/.local/a': '',
  });
  chmodSync(person.at('workspace/bin/tool'), 0o755);
  symlinkSync(person.at('workspace/bin'), person.at('home/.local/bin'));
  const PATH = `${process.env.PATH}:${person.at('home/.local/bin')}`;
  expect(await person.bash('tool', { PATH })).toBe('ran\n');
  rmSync(person.at('workspace/bin'), { recursive: true });
  symlinkSync(person.at('secret'), person.at('workspace/bin'));
  expect(await person.bash(`ls ${person.at('home/.local/bin')} 2>/dev/null; echo end`, { PATH })).toBe('end\n');
});

test('a certificate in the workspace can be read, and a link in its place does not lead outside', async () => {
  const person = makePerson({
    'workspace/ca.pem': '-----BEGIN CERTIFICATE-----\n',
    'secret/other.pem': '-----BEGIN CERTIFICATE-----\ns3cret',
  });
  const variables = { NODE_EXTRA_CA_CERTS: person.at('workspace/ca.pem') };
  const command = 'echo $NODE_EXTRA_CA_CERTS; cat /run/croft/certificates/*; echo end';
  expect(await person.bash(command, variables)).toContain(`${person.at('workspace/ca.pem')}\n`);
  rmSync(person.at('workspace/ca.pem'));
  symlinkSync(person.at('secret/other.pem'), person.at('workspace/ca.pem'));
  expect(await person.bash(command, variables)).not.toContain('s3cret');
});

test('settings in the workspace that are not files do not block a command', async () => {
  const person = makePerson({ 'workspace/a': '' });
  await run('mkfifo', [person.at('workspace/.npmrc')]);
  expect(await person.bash('echo end', { NPM_CONFIG_USERCONFIG: person.at('workspace/.npmrc') })).toBe('end\n');
}, 20_000);
