import { z } from 'zod';
import { type Check, type Detector, type Profile, type ProjectDirectory, toScripts } from '../core/projects/profile.ts';
import { readSettings } from '../core/projects/read-settings.ts';

const Names = z.record(z.string(), z.unknown()).catch({}).default({});
const Manifest = z.object({ require: Names, 'require-dev': Names, scripts: Names });

const phpunitFiles = ['phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml'];
const phpstanFiles = ['phpstan.neon', 'phpstan.neon.dist', 'phpstan.dist.neon'];
const phpcsFiles = ['phpcs.xml', 'phpcs.xml.dist', '.phpcs.xml', '.phpcs.xml.dist'];
const fixerFiles = ['.php-cs-fixer.php', '.php-cs-fixer.dist.php', '.php_cs', '.php_cs.dist'];

export const php: Detector = {
  language: 'php',
  aliases: ['composer'],
  isMarker: (name) => name === 'composer.json',
  isHint: (name) => [...phpunitFiles, ...phpstanFiles, ...phpcsFiles, ...fixerFiles].includes(name),
  async detect(project) {
    const manifest = readSettings(await project.read('composer.json'), JSON.parse, Manifest);
    const packages = new Set(Object.keys({ ...manifest?.require, ...manifest?.['require-dev'] }));
    const phpstan = await findPhpstan(project, packages);
    return {
      language: 'php',
      ecosystem: 'php',
      directory: project.path,
      extensions: ['.php'],
      packageManager: 'composer',
      install: ['composer', 'install'],
      dependencyDirectory: 'vendor',
      // Events that composer runs itself have such names.
      scripts: toScripts(
        Object.keys(manifest?.scripts ?? {}).filter((name) => !/^(?:pre|post)-/.test(name)),
        (name) => ['composer', 'run-script', name],
      ),
      ...(await findFormat(project, packages)),
      lint: (await findPhpcs(project, packages)) ?? phpstan,
      typecheck: phpstan,
      test: await findTest(project, packages),
    };
  },
};

type Packages = ReadonlySet<string>;

const local = (project: ProjectDirectory, name: string) => project.findProgram(['vendor/bin'], name);

async function findTest(project: ProjectDirectory, packages: Packages): Promise<Check | undefined> {
  const isPest = packages.has('pestphp/pest');
  if (!isPest && !packages.has('phpunit/phpunit') && !project.has(...phpunitFiles)) return undefined;
  return { tool: 'phpunit', argv: [await local(project, isPest ? 'pest' : 'phpunit'), '$FILES'] };
}

async function findPhpstan(project: ProjectDirectory, packages: Packages): Promise<Check | undefined> {
  const isSet = project.has(...phpstanFiles) || packages.has('phpstan/phpstan') || packages.has('larastan/larastan');
  if (!isSet) return undefined;
  const options = ['analyse', '--error-format=json', '--no-progress', '--no-interaction'];
  return { tool: 'phpstan', argv: [await local(project, 'phpstan'), ...options, '$FILES'] };
}

async function findPhpcs(project: ProjectDirectory, packages: Packages): Promise<Check | undefined> {
  if (!project.has(...phpcsFiles) && !packages.has('squizlabs/php_codesniffer')) return undefined;
  return { tool: 'phpcs', argv: [await local(project, 'phpcs'), '-q', '--report=json', '$FILES'] };
}

async function findFormat(
  project: ProjectDirectory,
  packages: Packages,
): Promise<Pick<Profile, 'format' | 'formatCheck'>> {
  if (project.has(...fixerFiles) || packages.has('friendsofphp/php-cs-fixer')) {
    const fixer = await local(project, 'php-cs-fixer');
    return { format: [fixer, 'fix', '$FILES'], formatCheck: [fixer, 'fix', '--dry-run', '--diff', '$FILES'] };
  }
  if (!project.has('pint.json') && !packages.has('laravel/pint')) return {};
  const pint = await local(project, 'pint');
  return { format: [pint, '$FILES'], formatCheck: [pint, '--test', '$FILES'] };
}
