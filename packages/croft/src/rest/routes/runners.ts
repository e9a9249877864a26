import { AppError, CreateRunner, Deleted, Runner, RunnerList, RunnerMade } from '@croft/protocol';
import { defineRoute } from '../platform/route.ts';

/** Runners: machines that connect to this server. A runner is identified by its token alone. */
export const runnerRoutes = [
  defineRoute({
    method: 'POST',
    path: '/runners',
    summary: 'Lets a machine connect under a name; its token is answered this once',
    scopes: ['write'],
    creates: true,
    mirrored: true,
    body: CreateRunner,
    status: 201,
    answer: RunnerMade,
    failures: ['E_ALREADY_EXISTS', 'E_QUOTA'],
    async handle({ registry, viewRunners }, { actor, body }) {
      const { runner, token } = await registry.runners.create(actor, body);
      const [view] = await viewRunners([runner]);
      return { body: { runner: view, token } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/runners',
    summary: 'Lists the runners: state, load, version and last error',
    scopes: ['read'],
    ofFlags: true,
    mirrored: true,
    answer: RunnerList,
    async handle({ registry, viewRunners }, { actor }) {
      const known = await registry.runners.list(actor.accountId);
      return { body: { runners: await viewRunners(known) } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/runners/{name}',
    summary: 'One runner as it is now',
    scopes: ['read'],
    ofFlags: true,
    mirrored: true,
    answer: Runner,
    failures: ['E_NOT_FOUND'],
    async handle({ registry, viewRunners }, { actor, params }) {
      const known = (await registry.runners.list(actor.accountId)).find(({ name }) => name === params.name);
      if (!known) throw new AppError('E_NOT_FOUND', 'Runner not found');
      const [view] = await viewRunners([known]);
      return { body: view };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/runners/{name}/rotate',
    summary: 'Replaces the token of a runner; the old token and its connection end at once',
    scopes: ['write'],
    creates: true,
    mirrored: true,
    answer: RunnerMade,
    failures: ['E_NOT_FOUND'],
    async handle({ registry, viewRunners }, { actor, params }) {
      const { runner, token } = await registry.runners.rotate(actor, params.name);
      const [view] = await viewRunners([runner]);
      return { body: { runner: view, token } };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/runners/{name}',
    summary: 'Revokes the token of a runner and ends its connection',
    scopes: ['write'],
    mirrored: true,
    answer: Deleted,
    failures: ['E_NOT_FOUND'],
    async handle({ registry }, { actor, params }) {
      await registry.runners.revoke(actor, params.name);
      return { body: { deleted: true } };
    },
  }),
];
