import type { Argv, Check, Detector, Profile, ProjectDirectory } from '../core/projects/profile.ts';

/** As `rake test` would, but with the files that are asked for: it takes them only by a variable. */
const runFiles =
  'files = ARGV.grep(/\\.rb\\z/); files = Dir["test/**/*_test.rb", "test/**/test_*.rb"] if files.empty?; ' +
  'files.each { |file| require File.expand_path(file) }';

export const ruby: Detector = {
  language: 'ruby',
  aliases: ['rb'],
  isMarker: (name) => name === 'Gemfile' || name === 'gems.rb' || name.endsWith('.gemspec'),
  isHint: (name) => ['Rakefile', '.rspec', '.rubocop.yml'].includes(name),
  async detect(project) {
    const gemfile = ['Gemfile', 'gems.rb'].find((name) => project.has(name));
    const text = gemfile === undefined ? '' : ((await project.read(gemfile)) ?? '');
    // `bundle exec` runs what is installed, or says that it is not.
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

function findTest(project: ProjectDirectory, gemfile: string, run: Run): Check | undefined {
  const { directories } = project;
  const isRspec = project.has('.rspec') || directories.has('spec') || /['"]rspec\b/.test(gemfile);
  if (isRspec) return { tool: 'rspec', argv: run('rspec', '$FILES') };
  if (!directories.has('test')) return undefined;
  const isRails = /['"]rails['"]/.test(gemfile) && directories.has('bin');
  if (isRails) return { tool: 'minitest', argv: ['./bin/rails', 'test', '$FILES'] };
  return { tool: 'minitest', argv: run('ruby', '-Itest', '-Ilib', '-e', runFiles, '$FILES') };
}
