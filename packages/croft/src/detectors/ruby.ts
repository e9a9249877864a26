import { isDocumentation } from '../core/projects/is-documentation.ts';
import type { Argv, CheckCommand, Detector, Profile, ProjectDirectory } from '../core/projects/profile.ts';

/** Runs the requested files as `rake test` would, which takes files only through a variable. */
const runFiles =
  'files = ARGV.grep(/\\.rb\\z/); files = Dir["test/**/*_test.rb", "test/**/test_*.rb"] if files.empty?; ' +
  'files.each { |file| require File.expand_path(file) }';

export const ruby: Detector = {
  language: 'ruby',
  aliases: ['rb'],
  isMarker: (name) => name === 'Gemfile' || name === 'gems.rb' || name.endsWith('.gemspec'),
  isHint: (name) => ['Rakefile', '.rspec', '.rubocop.yml'].includes(name),
  async detect(project) {
    // Gems that only build the documentation of another project, as in jq.
    const isGem = [...project.names].some((name) => name.endsWith('.gemspec'));
    if (isDocumentation(project.path) && !isGem) return undefined;
    const gemfile = ['Gemfile', 'gems.rb'].find((name) => project.has(name));
    const text = gemfile === undefined ? '' : ((await project.read(gemfile)) ?? '');
    // `bundle exec` runs only installed gems, and fails if one is missing.
    const run = (...argv: Argv): Argv => (gemfile === undefined ? argv : ['bundle', 'exec', ...argv]);
    return {
      language: 'ruby',
      ecosystem: 'ruby',
      directory: project.path,
      extensions: ['.rb', '.rake', '.gemspec'],
      packageManager: 'bundler',
      install: ['bundle', 'install'],
      dependencyDirectory: 'vendor/bundle',
      scripts: {},
      ...findRubocop(project, text, run),
      test: findTest(project, text, run),
    };
  },
};

type Run = (...argv: Argv) => Argv;

function findRubocop(
  project: ProjectDirectory,
  gemfile: string,
  run: Run,
): Pick<Profile, 'lint' | 'format' | 'formatCheck'> {
  if (project.findAbove('.rubocop.yml') === undefined && !/['"]rubocop\b/.test(gemfile)) return {};
  return {
    lint: { tool: 'rubocop', argv: run('rubocop', '--format=json', '$FILES') },
    format: run('rubocop', '--fix-layout', '$FILES'),
    formatCheck: run('rubocop', '--only', 'Layout', '$FILES'),
  };
}

function findTest(project: ProjectDirectory, gemfile: string, run: Run): CheckCommand | undefined {
  const { directories } = project;
  const isRspec = project.has('.rspec') || directories.has('spec') || /['"]rspec\b/.test(gemfile);
  if (isRspec) return { tool: 'rspec', argv: run('rspec', '$FILES') };
  if (!directories.has('test')) return undefined;
  const isRails = /['"]rails['"]/.test(gemfile) && directories.has('bin');
  if (isRails) return { tool: 'minitest', argv: ['./bin/rails', 'test', '$FILES'] };
  return { tool: 'minitest', argv: run('ruby', '-Itest', '-Ilib', '-e', runFiles, '$FILES') };
}
