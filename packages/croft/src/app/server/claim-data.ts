export { claimDataDirectory, type DataOwner } from '../../storages/index.ts';
