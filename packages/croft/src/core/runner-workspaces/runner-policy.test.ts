import { expect, test } from 'vitest';
import { NetworkPolicy } from '../commands/network-policy.ts';
import { coversNetwork, narrowToPolicy } from './runner-policy.ts';

const limits = { memoryBytes: 10, processes: 10, cpus: 1, fileBytes: 10, openFiles: 10, diskBytes: 10 };
const restricted = (domains: string[], cidrs: string[] = [], onlyPublic?: boolean) =>
  NetworkPolicy.parse({ mode: 'restricted', domains, cidrs, onlyPublic });

test.each([
  [{ mode: 'allow-all' }, { mode: 'allow-all' }, true],
  [{ mode: 'deny-all' }, { mode: 'deny-all' }, true],
  [{ mode: 'deny-all' }, { mode: 'public' }, false],
  [{ mode: 'deny-all' }, restricted([]), false],
  [{ mode: 'public' }, { mode: 'allow-all' }, false],
  [{ mode: 'public' }, restricted(['a.example']), true],
  [{ mode: 'public' }, restricted([], ['10.0.0.0/8']), false],
  [{ mode: 'public' }, restricted([], ['10.0.0.0/8'], true), true],
  [restricted(['a.example']), { mode: 'public' }, false],
  [restricted(['a.example']), restricted(['a.example']), true],
  [restricted(['a.example']), restricted(['b.example']), false],
  [restricted(['*.a.example']), restricted(['x.a.example', '*.y.a.example']), true],
  [restricted(['*.a.example']), restricted(['a.example']), false],
  [restricted(['*.a.example']), restricted(['xa.example']), false],
  [restricted(['*.a.example']), restricted(['x.a.example:8443']), false],
  [restricted(['a.example'], ['10.0.0.0/8']), restricted(['a.example'], ['10.0.0.0/8']), true],
  [restricted([], ['10.0.0.0/8']), restricted([], ['10.0.0.0/8', '192.168.0.0/16']), false],
  [restricted(['a.example'], ['10.0.0.0/8'], true), restricted(['a.example'], ['10.0.0.0/8']), false],
] as const)('%j and %j: %s', (own, wanted, isCovered) => {
  expect(coversNetwork(own as NetworkPolicy, wanted as NetworkPolicy)).toBe(isCovered);
});

test('a server gets at most what the operator of the machine allows', () => {
  const policy = { network: { mode: 'deny-all' } as const, limits, isReadOnly: false };
  const wanted = { network: { mode: 'deny-all' } as const, limits: { ...limits, memoryBytes: 1000, processes: 5 } };
  expect(narrowToPolicy(policy, wanted).limits).toEqual({ ...limits, processes: 5 });
  const wider = { ...wanted, network: { mode: 'allow-all' } as const };
  expect(() => narrowToPolicy(policy, wider)).toThrow('this runner allows the network deny-all at most');
});
