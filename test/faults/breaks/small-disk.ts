import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

const KB = 1024
const MAX_WAL_MB = 500

/**
 * Mounts a separate small file system, which only this process tree sees and which disappears with its last
 * process, and runs a command there.
 */
const MOUNT = 'mount -t tmpfs -o "size=$1m,mode=755" none "$2" && shift 2 &&'
const runAs = (uid: number, gid: number) => `exec unshare --user --map-user=${uid} --map-group=${gid} "$@"`

/**
 * Returns how to run a command with a file system of `megabytes` mounted at `folder`, or null if this machine
 * does not allow it.
 */
export function findMount(folder: string, megabytes: number): ((command: string[]) => string[]) | null {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  const root = ['--mount', 'sh', '-c', `${MOUNT} exec "$@"`]
  // PostgreSQL refuses to run as root, even as root of a user namespace. Inside, it runs as the user who
  // called.
  const user = ['--user', '--map-root-user', '--mount', 'sh', '-c', `${MOUNT} ${runAs(uid, gid)}`]
  const ways = uid === 0 ? [root] : [user]
  const wayTo = (way: string[]) => (command: string[]) => [
    'unshare',
    ...way,
    'sh',
    String(megabytes),
    folder,
    ...command,
  ]
  for (const way of ways.map(wayTo)) {
    const [program = '', ...args] = way(['true'])
    try {
      execFileSync(program, args, { stdio: 'ignore' })
      return way
    } catch {
      // This way does not work here. The caller reports what is done instead.
    }
  }
  return null
}

export type Disk = {
  /** Prevents all further writes until the disk is emptied. */
  fill(): Promise<void>
  empty(): Promise<void>
}

/**
 * Fills the file system of the folder to the last block, again and again, since PostgreSQL frees some blocks.
 */
export function openSmallDisk(folder: string): Disk {
  const file = join(folder, 'ballast')
  const block = Buffer.alloc(64 * KB, 1)
  let handle: number | undefined
  let timer: NodeJS.Timeout | undefined
  const write = () => {
    handle ??= openSync(file, 'a')
    for (let size = block.length; size >= KB;) {
      try {
        // If a block does not fit as a whole, smaller pieces are tried.
        if (writeSync(handle, block, 0, size) < size) size /= 2
      } catch (cause) {
        if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC')) throw cause
        size /= 2
      }
    }
  }
  return {
    async fill() {
      write()
      timer = setInterval(write, 50).unref()
    },
    async empty() {
      clearInterval(timer)
      if (handle !== undefined) closeSync(handle)
      handle = undefined
      rmSync(file, { force: true })
    },
  }
}

/**
 * Makes PostgreSQL itself refuse every write with the error code of a full disk, for machines on which no
 * file system can be mounted.
 */
export async function openRefusingDatabase(url: string): Promise<Disk> {
  const set = (isFull: boolean) =>
    withClient(
      url,
      async (client) => void (await client.query('update public.disk set is_full = $1', [isFull])),
    )
  await withClient(url, async (client) => {
    await client.query(`create table public.disk (is_full boolean not null);
      insert into public.disk values (false);
      create function public.refuse_when_full() returns trigger language plpgsql as $$ begin
        if (select is_full from public.disk) then
          raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
        end if;
        return null; end $$`)
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname in ('public', 'graphile_worker', 'graphile_groups') and tablename <> 'disk'`,
    )
    for (const { name } of rows) {
      await client.query(`create trigger refuse_when_full before insert or update on ${name}
        for each statement execute function public.refuse_when_full()`)
    }
  })
  return { fill: () => set(true), empty: () => set(false) }
}

async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  // A lost connection shows in the statement in flight.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/**
 * Writes to the log of PostgreSQL until the log has no room either and PostgreSQL ends itself. Returns the
 * number of megabytes written.
 */
export function fillWal(url: string): Promise<number> {
  return withClient(url, async (client) => {
    for (let written = 0; written < MAX_WAL_MB; written += 1) {
      const emitted = await client
        .query(`select pg_logical_emit_message(false, 'fault', repeat('x', 1048576))`)
        .catch(() => null)
      if (emitted === null) return written
    }
    throw new Error(`PostgreSQL found room for ${MAX_WAL_MB} MB on a full disk`)
  })
}
