import { z } from 'zod';
import { parseSettings } from '../core/projects/parse-settings.ts';
import {
  type CheckCommand,
  type Detector,
  type Profile,
  type ProjectDirectory,
  toScripts,
} from '../core/projects/profile.ts';

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
    const manifest = parseSettings(await project.read('composer.json'), JSON.parse, Manifest);
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
      // Scripts with these names are events that composer runs itself.
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

const findLocalTool = (project: ProjectDirectory, name: string) => project.findProgram(['vendor/bin'], name);

async function findTest(project: ProjectDirectory, packages: Packages): Promise<CheckCommand | undefined> {
  const isPest = packages.has('pestphp/pest');
  if (!isPest && !packages.has('phpunit/phpunit') && !project.has(...phpunitFiles)) return undefined;
  return { tool: 'phpunit', argv: [await findLocalTool(project, isPest ? 'pest' : 'phpunit'), '$FILES'] };
}

async function findPhpstan(project: ProjectDirectory, packages: Packages): Promise<CheckCommand | undefined> {
  const isSet = project.has(...phpstanFiles) || packages.has('phpstan/phpstan') || packages.has('larastan/larastan');
  if (!isSet) return undefined;
  const options = ['analyse', '--error-format=json', '--no-progress', '--no-interaction'];
  return { tool: 'phpstan', argv: [await findLocalTool(project, 'phpstan'), ...options, '$FILES'] };
}

async function findPhpcs(project: ProjectDirectory, packages: Packages): Promise<CheckCommand | undefined> {
  if (!project.has(...phpcsFiles) && !packages.has('squizlabs/php_codesniffer')) return undefined;
  return { tool: 'phpcs', argv: [await findLocalTool(project, 'phpcs'), '-q', '--report=json', '$FILES'] };
}

async function findFormat(
  project: ProjectDirectory,
  packages: Packages,
): Promise<Pick<Profile, 'format' | 'formatCheck'>> {
  if (project.has(...fixerFiles) || packages.has('friendsofphp/php-cs-fixer')) {
    const fixer = await findLocalTool(project, 'php-cs-fixer');
    return { format: [fixer, 'fix', '$FILES'], formatCheck: [fixer, 'fix', '--dry-run', '--diff', '$FILES'] };
  }
  if (!project.has('pint.json') && !packages.has('laravel/pint')) return {};
  const pint = await findLocalTool(project, 'pint');
  return { format: [pint, '$FILES'], formatCheck: [pint, '--test', '$FILES'] };
}
