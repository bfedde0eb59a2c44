import { plural } from './plural.ts'

// Lines that tests and benchmarks wait for in the output of a process.

/** Begins the line that names the address of a server that is ready. */
export const READY = 'Loam is ready at'
export const RUNNING_AS_WORKER = 'running as a worker; this process serves no requests'
export const WORKERS_REPLACED = 'a pool of workers lost the database; another takes its place'
export const WAITING_FOR_COMMAND = 'waiting for another loam command that uses this database'
export const ENDING_ORPHAN = 'ending a PostgreSQL process that was left behind by an earlier Loam'
export const STARTING_AGAIN = 'starting it again'

/** Returns how often PostgreSQL went down in the last half minute. */
export const describeFailures = (count: number): string => `${plural(count, 'time')} within 30 seconds`
