export { claimDataDirectory, type DataOwner, readDataOwner } from '../../storages/index.ts';
