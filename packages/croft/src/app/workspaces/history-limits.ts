/** Separate from `workspace-histories.ts`, which takes long to load: flags are parsed before anything is opened. */
export { defaultHistoryLimits, type HistoryLimits } from '../../history/store/history-quota.ts';
