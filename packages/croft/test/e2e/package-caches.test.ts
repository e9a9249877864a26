import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { makePerson, run, startRegistry, startWeb } from '../support/person-home.ts';
import { hasToolchains } from '../support/toolchains.ts';

const [hasNode, hasGo, hasRust] = [await hasToolchains('node'), await hasToolchains('go'), await hasToolchains('rust')];

test.runIf(hasNode)('the npm cache of the host can be used at the first call and without a network', async () => {
  const person = makePerson({
    'workspace/package.json': '{"name":"w","version":"1.0.0","dependencies":{"@private/one":"1.0.0"}}',
  });
  const url = await startRegistry();
  await person.onHost(['npm', 'install', '--no-audit', '--no-fund', `--registry=${url}`]);
  rmSync(person.at('workspace/node_modules'), { recursive: true });
  const cache = person.at('home/.npm/_cacache');
  const before = readdirSync(cache, { recursive: true }).sort();
  const install = `npm ci --offline --no-audit --no-fund --registry=${url} && node -p 'require("@private/one")'`;
  expect(await person.bash(install)).toMatch(/\nfrom the cache\n$/);

  const attack =
    'f=$(find ~/.cache/npm/_cacache/content-v2 -type l | head -n 1); echo evil > "$f" || rm "$f" && echo taken';
  expect(await person.bash(attack)).toMatch(/Read-only file system\ntaken\n/);
  expect(readdirSync(cache, { recursive: true }).sort()).toEqual(before);
  expect(await person.bash('ls ~/.npm ~/.npmrc /run/croft/caches/npm')).toMatch(/\ncontent-v2\n/);
});

test('a command that may need packages waits until all caches are ready', async () => {
  const many = Array.from({ length: 3000 }, (_, index) => `home/.npm/_cacache/content-v2/sha512/aa/bb/${index}`);
  const person = makePerson({
    'workspace/package.json': '{}',
    ...Object.fromEntries(many.map((path) => [path, 'x'])),
  });
  expect(await person.bash('find ~/.cache/npm/_cacache/content-v2 -type l | wc -l')).toBe('3000\n');
});

test.runIf(hasGo)('the Go module cache of the host can be used inside, private modules too', async () => {
  const person = makePerson({
    'module/private.example/one@v1.0.0/go.mod': 'module private.example/one\n',
    'module/private.example/one@v1.0.0/one.go': 'package one\n\nconst Word = "from the cache"\n',
    'proxy/private.example/one/@v/list': 'v1.0.0\n',
    'proxy/private.example/one/@v/v1.0.0.info': '{"Version":"v1.0.0"}',
    'proxy/private.example/one/@v/v1.0.0.mod': 'module private.example/one\n',
    'home/.config/go/env': 'GOPRIVATE=private.example\n',
    'workspace/go.mod': 'module w\n\ngo 1.19\n\nrequire private.example/one v1.0.0\n',
    'workspace/main.go': 'package main\n\nimport "private.example/one"\n\nfunc main() { println(one.Word) }\n',
  });
  // Go takes no entries for directories.
  const zip = 'import zipfile, sys; z = zipfile.ZipFile(sys.argv[1], "w"); [z.write(f) for f in sys.argv[2:]]';
  const files = ['go.mod', 'one.go'].map((name) => `private.example/one@v1.0.0/${name}`);
  const archive = person.at('proxy/private.example/one/@v/v1.0.0.zip');
  await run('/usr/bin/python3', ['-c', zip, archive, ...files], { cwd: person.at('module') });
  const proxy = { GOPROXY: `file://${person.at('proxy')}`, GONOPROXY: 'none', GONOSUMDB: 'private.example' };
  await person.onHost(['go', 'mod', 'tidy'], { ...proxy, GOFLAGS: '-modcacherw' });
  expect(existsSync(person.at('workspace/go.sum'))).toBe(true);
  // Some versions of Go ask also when a version was made, which the cache may not have and no build needs.
  expect(await person.bash('go run . 2>&1; go env GOPRIVATE')).toMatch(
    /^(?:go: downloading.*\n)?from the cache\nprivate.example\n(?:refused \(network, deny-all\): private.example.*\n)?$/,
  );
});

test.runIf(hasRust)('the cargo registry of the host can be used inside', async () => {
  const person = makePerson({
    'one-1.0.0/Cargo.toml': '[package]\nname = "one"\nversion = "1.0.0"\nedition = "2021"\n',
    'one-1.0.0/src/lib.rs': 'pub const WORD: &str = "from the cache";\n',
    'workspace/Cargo.toml': '[package]\nname = "w"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\none = "1"\n',
    'workspace/src/main.rs': 'fn main() { println!("{}", one::WORD); }\n',
  });
  await run('tar', ['-czf', person.at('one.crate'), '-C', person.path, 'one-1.0.0']);
  const crate = readFileSync(person.at('one.crate'));
  const cksum = createHash('sha256').update(crate).digest('hex');
  const entry = JSON.stringify({ name: 'one', vers: '1.0.0', deps: [], cksum, features: {}, yanked: false });
  const url: string = await startWeb({
    '/config.json': () => JSON.stringify({ dl: `${url}/crates/{crate}` }),
    '/3/o/one': () => entry,
    '/crates/one': () => crate,
  });
  const source = `[source.crates-io]\nreplace-with = "own"\n[source.own]\nregistry = "sparse+${url}/"\n`;
  mkdirSync(person.at('cargo'));
  writeFileSync(person.at('cargo/config.toml'), source);
  writeFileSync(person.at('cargo/credentials.toml'), 's3cret-token');
  // The toolchain may be one of rustup, which is found below the home.
  const env = { HOME: homedir(), CARGO_HOME: person.at('cargo') };
  await person.onHost(['cargo', 'fetch'], env);
  const output = await person.bash(
    'cargo run -q 2>&1; grep -rl s3cret-token /run/croft/caches/cargo /run/croft/settings /.cargo ~/.cache/cargo',
    env,
  );
  expect(output).toBe('from the cache\nexit: 1\n');
});

test('caches that a project cannot use are not shown', async () => {
  const person = makePerson({
    'home/.m2/repository/a': '',
    'home/.npm/_cacache/content-v2/a': '',
    'home/.gradle/caches/modules-2/a': '',
    'workspace/package.json': '{}',
  });
  expect(await person.bash('ls /run/croft/caches')).toBe('gradle\nnpm\n');
});

test('registries are those of the host, without the credentials for them', async () => {
  const person = makePerson({
    'workspace/a': '',
    'home/.npmrc': [
      ...['registry=https://ada:p@s3cret@npm.corp.example/', '@corp:registry=https://npm2.corp.example/'],
      ...['//npm.corp.example/:_authToken=s3cret', '@x:registry=https://$' + '{HOST}/npm3/', 'email=a@b'],
    ].join('\n'),
    'home/.config/pip/pip.conf':
      '[global]\nindex-url = https://ada:s3cret@pip.corp.example/simple\npassword = s3cret\n',
    'home/.cargo/config.toml': [
      ...[
        '[source.crates-io]',
        'replace-with = "corp"',
        '[source.corp]',
        'registry = "sparse+https://u:s3cret@c.example/"',
      ],
      ...['[registries.corp]', 'index = "sparse+https://c.example/"', 'token = "s3cret"', '[http]', 'proxy = "s3cret"'],
    ].join('\n'),
    'home/.cargo/credentials.toml': 's3cret',
    'home/.m2/settings.xml':
      '<settings><servers><server><password>s3cret</password></server></servers><mirrors><mirror><id>corp</id>' +
      '<url>https://ada:s3cret@maven.corp.example/</url><mirrorOf>*</mirrorOf></mirror></mirrors></settings>',
    'home/.config/go/env': 'GOPROXY=https://ada:s3cret@go.corp.example,direct\nGONOSUMDB=corp.example\n',
  });
  const command = [
    'cat $npm_config_globalconfig $PIP_CONFIG_FILE /.cargo/config.toml ~/.m2/settings.xml',
    'echo $GOPROXY $GONOSUMDB; env; ls -A ~; grep -rl s3cret /run/croft /.cargo ~ 2>/dev/null',
  ].join('; ');
  const output = await person.bash(command);
  expect(output).not.toContain('s3cret');
  for (const line of [
    ...['registry=https://npm.corp.example/', '@corp:registry=https://npm2.corp.example/'],
    ...[
      'index-url = https://pip.corp.example/simple',
      'replace-with = "corp"',
      'registry = "sparse+https://c.example/"',
    ],
    ...['<url>https://maven.corp.example/</url>', 'https://go.corp.example,direct corp.example'],
  ])
    expect(output).toContain(line);
  expect(output).not.toContain('npm3');
});
