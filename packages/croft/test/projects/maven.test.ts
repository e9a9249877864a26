import { describeEcosystem } from './describe-ecosystem.ts';

await describeEcosystem('a Java project with Maven and no network', {
  toolchains: ['maven'],
  fixture: 'maven',
  language: 'java',
  source: 'src/main/java/demo/Sums.java',
  tests: 'src/test/java/demo/SumsTest.java',
  stops: { adds: 'add(1, 2)', multiplies: 'multiply(3, 4)' },
  breaks: ['left + right', 'left + absent'],
  program: 'mvn',
  checks: [
    {
      tool: 'run_typecheck',
      file: 'src/main/java/demo/Wrong.java',
      text: 'package demo;\n\nclass Wrong {\n  int wrong = "text";\n}\n',
      finding: { line: 4 },
    },
  ],
});
