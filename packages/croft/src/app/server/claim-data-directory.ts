export { claimDataDirectory, type DataOwner, readOwner } from '../../storages/index.ts';
