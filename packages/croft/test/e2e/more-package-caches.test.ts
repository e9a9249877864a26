import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makePerson, run } from '../support/person-home.ts';
import { hasToolchains } from '../support/toolchains.ts';

const hasRust = await hasToolchains('rust');
const hasBundler = await hasToolchains('bundler');
const hasComposer = await hasToolchains('composer');
const hasPip = await hasToolchains('pip');
const hasMaven = await hasToolchains('maven');

const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];

/** A crate that a workspace has by git, fetched by the person's own cargo and gone from where it came from. */
async function makeGitCrate() {
  const person = makePerson({
    'crate/Cargo.toml': '[package]\nname = "one"\nversion = "1.0.0"\nedition = "2021"\n',
    'crate/src/lib.rs': 'pub const WORD: &str = "from the cache";\n',
    'workspace/src/main.rs': 'fn main() { println!("{}", one::WORD); }\n',
  });
  const git = (...words: string[]) => run('git', ['-C', person.at('crate'), ...words]);
  await git('init', '-q', '-b', 'main');
  await git('add', '.');
  await git(...author, 'commit', '-qm', 'one');
  const manifest = '[package]\nname = "w"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n';
  writeFileSync(person.at('workspace/Cargo.toml'), `${manifest}one = { git = "file://${person.at('crate')}" }\n`);
  const env = { HOME: homedir(), CARGO_HOME: person.at('cargo') };
  await person.onHost(['cargo', 'fetch'], env);
  rmSync(person.at('crate'), { recursive: true });
  const [repository = ''] = readdirSync(person.at('cargo/git/db'));
  return { person, env, repository: person.at(`cargo/git/db/${repository}`) };
}

test.runIf(hasRust)('the git checkouts of cargo on the host can be used inside', async () => {
  const { person, env, repository } = await makeGitCrate();
  const before = readdirSync(repository, { recursive: true }).sort();
  expect(await person.bash('cargo run -q 2>&1', env)).toBe('from the cache\n');
  const attack = 'echo evil > $(find /run/croft/caches/cargo/git -name "*.pack" -o -type f | head -n 1)';
  expect(await person.bash(attack, env)).toMatch(/Read-only file system/);
  expect(readdirSync(repository, { recursive: true }).sort()).toEqual(before);
});

test.runIf(hasRust)('a cargo repository with a password in its settings is not shown', async () => {
  const { person, env, repository } = await makeGitCrate();
  writeFileSync(`${repository}/FETCH_HEAD`, `${'0'.repeat(40)}\t\thttps://ada:s3cret@git.example/one\n`);
  expect(await person.bash('grep -rl s3cret /run/croft ~; ls /run/croft/caches/cargo/git; cargo run -q', env)).toMatch(
    /^ls: cannot access[\s\S]*exit: 101/,
  );
});

test.runIf(hasBundler)('gems of the host can be used inside, and others can be installed', async () => {
  const gemspec = (name: string) =>
    `Gem::Specification.new { |s| s.name = "${name}"; s.version = "1.0.0"; s.summary = "s"; s.authors = ["a"]; s.files = ["lib/${name}.rb"] }`;
  const person = makePerson({
    'gem/one.gemspec': gemspec('one'),
    'gem/lib/one.rb': 'WORD = "from the cache"',
    'gem/two.gemspec': gemspec('two'),
    'gem/lib/two.rb': '',
    'workspace/Gemfile': "source 'https://gems.example'\ngem 'one'\n",
    'home/.local/share/gem/credentials': 's3cret',
    'home/.bundle/config': 'BUNDLE_GEMS__EXAMPLE: "ada:s3cret"\n',
  });
  for (const name of ['one', 'two']) await run('gem', ['build', `${name}.gemspec`], { cwd: person.at('gem') });
  await person.onHost(['gem', 'install', '--local', '--user-install', '--no-document', person.at('gem/one-1.0.0.gem')]);
  await run('cp', [person.at('gem/two-1.0.0.gem'), person.workspace]);
  const program = `ruby -e 'require "one"; puts WORD'`;
  const output = await person.bash(
    `bundle check >/dev/null && bundle exec ${program} && grep -rl s3cret /run/croft ~; gem install --local --user-install two-1.0.0.gem 2>&1 | tail -n 1`,
  );
  expect(output).toBe('from the cache\n1 gem installed\n');
  const attack = 'echo evil > $(gem contents one)';
  expect(await person.bash(attack)).toMatch(/Read-only file system/);
});

test.runIf(hasBundler)('gems of GEM_HOME can be used inside', async () => {
  const person = makePerson({
    'gem/one.gemspec':
      'Gem::Specification.new { |s| s.name = "one"; s.version = "1.0.0"; s.summary = "s"; s.authors = ["a"]; s.files = ["lib/one.rb"] }',
    'gem/lib/one.rb': 'WORD = "from the cache"',
    'workspace/a': '',
  });
  await run('gem', ['build', 'one.gemspec'], { cwd: person.at('gem') });
  const env = { GEM_HOME: person.at('gem-home') };
  await person.onHost(['gem', 'install', '--local', '--no-document', person.at('gem/one-1.0.0.gem')], env);
  expect(await person.bash(`ruby -e 'require "one"; puts WORD'`, env)).toBe('from the cache\n');
});

test.runIf(hasComposer)('packages of composer on the host can be used inside', async () => {
  const person = makePerson({
    'one/composer.json': '{"name":"private/one","version":"1.0.0","autoload":{"files":["one.php"]}}',
    'one/one.php': '<?php const WORD = "from the cache";',
    'home/.config/composer/auth.json': '{"http-basic":{"php.example":{"username":"ada","password":"s3cret"}}}',
  });
  const zip = 'import zipfile, sys; z = zipfile.ZipFile(sys.argv[1], "w"); [z.write(f) for f in sys.argv[2:]]';
  const files = ['composer.json', 'one.php'];
  await run('/usr/bin/python3', ['-c', zip, person.at('one.zip'), ...files], { cwd: person.at('one') });
  const dist = { url: `file://${person.at('one.zip')}`, type: 'zip', reference: 'a'.repeat(40) };
  const one = { name: 'private/one', version: '1.0.0', dist, autoload: { files: ['one.php'] } };
  const manifest = {
    require: { 'private/one': '1.0.0' },
    repositories: [{ type: 'package', package: one }, { 'packagist.org': false }],
  };
  mkdirSync(person.workspace);
  writeFileSync(person.at('workspace/composer.json'), JSON.stringify(manifest));
  await person.onHost(['composer', 'install', '--quiet'], { COMPOSER_ALLOW_SUPERUSER: '1' });
  rmSync(person.at('workspace/vendor'), { recursive: true });
  rmSync(person.at('one.zip'));
  const output = await person.bash(
    `composer install --quiet && php -r 'require "vendor/autoload.php"; echo WORD, "\\n";'; grep -rl s3cret /run/croft ~`,
  );
  expect(output).toBe('from the cache\nexit: 1\n');
  const attack = 'echo evil > $(find ~/.cache/composer/files -type l | head -n 1)';
  expect(await person.bash(attack)).toMatch(/Read-only file system/);
});

const wheel = `
import zipfile, sys
with zipfile.ZipFile(sys.argv[1] + '/one-1.0.0-py3-none-any.whl', 'w') as z:
    z.writestr('one.py', 'word = "from the cache"')
    z.writestr('one-1.0.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: one\\nVersion: 1.0.0\\n')
    z.writestr('one-1.0.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    z.writestr('one-1.0.0.dist-info/RECORD', '')
`;

test.runIf(hasPip)(
  'pip finds packages in the same places as on the host, which are directories of packages only',
  async () => {
    const person = makePerson({ 'workspace/a': '', 'wheels/index.html': '', 'mixed/key': 's3cret' });
    for (const name of ['wheels', 'mixed']) await run('/usr/bin/python3', ['-c', wheel, person.at(name)]);
    mkdirSync(person.at('home/.config/pip'), { recursive: true });
    writeFileSync(
      person.at('home/.config/pip/pip.conf'),
      `[global]\nno-index = true\nfind-links =\n    ${person.at('wheels')}\n    ${person.at('mixed')}\n`,
    );
    const install = 'pip3 install -q --disable-pip-version-check --target out one 2>&1';
    const output = await person.bash(
      `${install}; PYTHONPATH=out python3 -c 'import one; print(one.word)'; grep -rl s3cret /run/croft`,
    );
    expect(output).toMatch(/^from the cache\nexit: 1\n/m);
    expect(output).not.toContain('mixed');
  },
);

test('distributions of the Gradle wrapper can be used inside, and the wrapper can lock them', async () => {
  const dist = 'wrapper/dists/gradle-9.9-bin/abc123';
  const person = makePerson({
    [`home/.gradle/${dist}/gradle-9.9/bin/gradle`]: '#!/bin/sh\necho "from the cache"\n',
    [`home/.gradle/${dist}/gradle-9.9-bin.zip.ok`]: '',
    [`home/.gradle/${dist}/gradle-9.9-bin.zip.lck`]: '',
    'home/.gradle/gradle.properties': 'password=s3cret\n',
    'workspace/gradlew': '',
  });
  chmodSync(person.at(`home/.gradle/${dist}/gradle-9.9/bin/gradle`), 0o755);
  const command = [
    `cd $GRADLE_USER_HOME/${dist} && echo lock > gradle-9.9-bin.zip.lck && [ -f gradle-9.9-bin.zip.ok ] && gradle-9.9/bin/gradle`,
    'echo evil > gradle-9.9/bin/gradle; grep -rl s3cret /run/croft ~',
  ].join('; ');
  expect(await person.bash(command)).toMatch(/^from the cache\n.*Read-only file system\nexit: 1\n/);
});

test.runIf(hasMaven)(
  'the Maven repository of the host can be used inside',
  async () => {
    const person = makePerson({
      'home/.m2/settings.xml':
        '<settings><servers><server><id>own</id><password>s3cret</password></server></servers><mirrors><mirror><id>own</id>' +
        '<url>file:///usr/share/maven-repo</url><mirrorOf>*</mirrorOf></mirror></mirrors></settings>',
      'workspace/pom.xml':
        '<project><modelVersion>4.0.0</modelVersion><groupId>w</groupId><artifactId>w</artifactId><version>1</version><build><plugins>' +
        '<plugin><artifactId>maven-compiler-plugin</artifactId><version>3.10.1</version></plugin>' +
        '<plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.0</version></plugin></plugins></build>' +
        '<properties><maven.compiler.release>11</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties></project>',
      'workspace/src/main/java/One.java':
        'public class One { public static void main(String[] a) { System.out.println("built"); } }',
    });
    const maven = ['mvn', '-q', `-Duser.home=${person.home}`, 'compile'] as const;
    await person.onHost(maven);
    rmSync(person.at('workspace/target'), { recursive: true });
    const output = await person.bash(
      'mvn -o -q -Duser.home=$HOME compile && java -cp target/classes One; grep -rl s3cret /run/croft ~; echo evil > $(find ~/.m2/repository/ -name "*.jar" | head -n 1)',
    );
    expect(output).toMatch(/^built\n.*Read-only file system\nexit: 1\n/);
  },
  120_000,
);

/** The layout of uv's cache. uv is not installed here, so the test checks the paths that uv would use. */
function makeUvCache(cache: string) {
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(cache, path)), { recursive: true });
    writeFileSync(join(cache, path), text);
  };
  put('archive-v0/AbC_1/one.py', 'word = "from the cache"\n');
  put('simple-v20/pypi/one.rkyv', 'index of one');
  put('simple-v20/index/0a1b/two.rkyv', 'https://ada:s3cret@pypi.example/two');
  put('wheels-v6/pypi/one/one-1.0.0-py3-none-any.http', 'AbC_1');
  put('wheels-v6/index/0a1b/two/two.http', 'https://ada:s3cret@pypi.example/two');
  put('git-v0/db/x/config', 'url = https://ada:s3cret@git.example/x');
  symlinkSync(join(cache, 'archive-v0/AbC_1'), join(cache, 'wheels-v6/pypi/one/one-1.0.0-py3-none-any'));
}

test.each(['home/.cache/uv', 'named'])(
  'packages of uv from the public index in %s can be used inside',
  async (directory) => {
    const person = makePerson({ 'workspace/pyproject.toml': '[project]\nname = "w"\n' });
    makeUvCache(person.at(directory));
    const env = directory === 'named' ? { UV_CACHE_DIR: person.at(directory) } : {};
    const commands = [
      'cd ~/.cache/uv && cat archive-v0/AbC_1/one.py wheels-v6/pypi/one/one-1.0.0-py3-none-any/one.py simple-v20/pypi/one.rkyv',
      'echo; cat wheels-v6/pypi/one/*.http; echo; echo $UV_OFFLINE',
      'echo new >> simple-v20/pypi/one.rkyv && mkdir archive-v0/new wheels-v6/pypi/new git-v0 && echo written',
      'grep -rl s3cret /run/croft ~',
    ];
    const word = 'word = "from the cache"\n';
    expect(await person.bash(commands.join('; '), env)).toBe(
      `${word}${word}index of one\nAbC_1\n1\nwritten\nexit: 1\n`,
    );
    expect(await person.bash('echo evil > ~/.cache/uv/archive-v0/AbC_1/one.py', env)).toMatch(/Read-only file system/);
    expect(readFileSync(join(person.at(directory), 'simple-v20/pypi/one.rkyv'), 'utf8')).toBe('index of one');
  },
);

test('a workspace without Python gets no cache of uv', async () => {
  const person = makePerson({ 'workspace/a': '' });
  makeUvCache(person.at('home/.cache/uv'));
  expect(await person.bash('ls /run/croft/caches/uv ~/.cache/uv')).toMatch(/cannot access[\s\S]*cannot access/);
});
