import { execFileSync } from 'node:child_process'

/**
 * The variable that the global set-up sets: the data folder of a stopped server, with the schema in its
 * database.
 */
const FOLDER = 'LOAM_TEST_CLUSTER'

/** Offers the folder to every test and every program that a test starts. */
export function offerCluster(dataDir: string): void {
  process.env[FOLDER] = dataDir
}

/**
 * Prepares a data folder before its first start, which then costs half as much: initdb and all migrations are
 * done. Programs that run outside of tests have no prepared folder and start from nothing.
 */
export function prepareCluster(dataDir: string): void {
  const prepared = process.env[FOLDER]
  if (prepared !== undefined) execFileSync('cp', ['-a', prepared, dataDir])
}
