import { totalmem } from 'node:os'

/** Given at each start instead of written into the cluster, so that a new version of Loam changes them. */
export function listSettings(socketDir: string): string[] {
  const settings = {
    listen_addresses: '',
    port: '5432',
    unix_socket_directories: `"${socketDir}"`,
    max_connections: '200',
    shared_buffers: `${sharedBuffersMegabytes()}MB`,
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_wal_size: '2GB',
    checkpoint_timeout: '15min',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_min_messages: 'warning',
    // Statements and details carry the users' data, which has no place in a log.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** A quarter of the memory that this process may use, within 128 MB and 1 GB. */
function sharedBuffersMegabytes(): number {
  const available = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return Math.min(1024, Math.max(128, Math.floor(available / 4 / 1024 / 1024)))
}
