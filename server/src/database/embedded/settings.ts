import { totalmem } from 'node:os'

/**
 * Returns the settings as command-line options. They are passed at each start instead of written into the cluster, so that a
 * new version of Loam can change them.
 */
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
    // Statements and details contain the users' data, which must not be logged.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Returns a quarter of the memory that this process may use, at least 128 MB and at most 1 GB. */
function sharedBuffersMegabytes(): number {
  const available = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return Math.min(1024, Math.max(128, Math.floor(available / 4 / 1024 / 1024)))
}
