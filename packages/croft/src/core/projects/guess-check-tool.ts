import type { Argv } from './profile.ts';

/** Names of test runners. */
export const testToolNames: readonly string[] = [
  ...['vitest', 'jest', 'mocha', 'ava', 'node-test', 'bun-test', 'deno-test', 'pytest', 'unittest', 'go-test'],
  ...['cargo-test', 'maven', 'gradle', 'ctest', 'meson-test', 'make-test', 'dotnet-test', 'rspec', 'minitest'],
  ...['phpunit', 'mix-test', 'swift-test', 'zig-test', 'script'],
];

/** Names of linters, compilers and type checkers. */
export const lintToolNames: readonly string[] = [
  ...['eslint', 'biome', 'oxlint', 'deno-lint', 'ruff', 'flake8', 'pylint', 'mypy', 'pyright', 'tsc'],
  ...['golangci-lint', 'go-vet', 'clippy', 'cargo-check', 'javac', 'maven-compile', 'gradle-compile', 'clang-tidy'],
  ...['cmake-build', 'dotnet-build', 'rubocop', 'phpstan', 'phpcs', 'credo', 'swiftlint', 'zig-build', 'shellcheck'],
  ...['xo', 'standard', 'lint-script'],
];

/** Tool names of programs whose first argument decides what they do. */
const byWords: Readonly<Record<string, string>> = {
  'node --test': 'node-test',
  'bun test': 'bun-test',
  'deno test': 'deno-test',
  'deno lint': 'deno-lint',
  'go test': 'go-test',
  'go vet': 'go-vet',
  'cargo test': 'cargo-test',
  'cargo clippy': 'clippy',
  'cargo check': 'cargo-check',
  'dotnet test': 'dotnet-test',
  'dotnet build': 'dotnet-build',
  'make test': 'make-test',
  'make check': 'make-test',
  'meson test': 'meson-test',
  'mix test': 'mix-test',
  'mix credo': 'credo',
  'swift test': 'swift-test',
  'zig test': 'zig-test',
  'cmake --build': 'cmake-build',
};

/** Programs that only start another program. */
const launchers = new Set([
  'env',
  'python',
  'python3',
  '-m',
  'uv',
  'poetry',
  'pipenv',
  'run',
  'bundle',
  'exec',
  'yarn',
]);

/** Guesses the tool of a command from its first words. */
export function guessCheckTool(argv: Argv, known: readonly string[]): string | undefined {
  const words = argv.map((word, index) => (index === 0 ? (word.split('/').at(-1) ?? word) : word));
  const start = words.findIndex((word) => !launchers.has(word));
  const [program = '', first = ''] = words.slice(Math.max(start, 0));
  const name = byWords[`${program} ${first}`] ?? program.split('/').at(-1) ?? '';
  return known.includes(name) ? name : undefined;
}
