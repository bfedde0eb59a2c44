import { spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { describeFailures, ENDING_ORPHAN, STARTING_AGAIN, WAITING_FOR_COMMAND } from '../../lib/log-lines.ts'
import * as fixture from '../testing/embedded-fixture.ts'
import { query, run, waitFor } from '../testing/embedded-fixture.ts'
import { type Embedded, openEmbedded, startEmbedded } from './embedded.ts'

const dataDir = join(fixture.makeFolder(), 'data')
const postgresLog = join(dataDir, 'postgres.log')
const lines: string[] = []
const log = (line: string) => lines.push(line)
const countRows = async (url: string) => (await query(url, 'select count(*)::int as n from kept'))[0]?.['n']
const running: Embedded[] = []
let plainStartMs = 0
/** Returns R12's limit of 10 seconds if a plain start takes a tenth of a second, and a longer limit on a slower machine. */
const shortlyMs = () => 8000 + 20 * Math.max(plainStartMs, 100)

async function start(): Promise<Embedded> {
  const embedded = await startEmbedded({ dataDir, log })
  running.push(embedded)
  return embedded
}

afterEach(async () => {
  for (const embedded of running.splice(0)) await embedded.stop()
})
afterAll(fixture.cleanUp)

describe('the database', () => {
  it('D54 is created in the data folder by the first start, and is owned by an ordinary role', async () => {
    const { url } = await start()
    const [role] = await query(
      url,
      `select current_user, current_database(), rolsuper, rolbypassrls, rolcreatedb,
         pg_has_role('pg_signal_backend', 'member') as signals,
         (select datdba::regrole::text from pg_database where datname = current_database()) as owner,
         current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
         current_setting('listen_addresses') as addresses, current_setting('TimeZone') as timezone
       from pg_roles where rolname = current_user`,
    )
    expect(role).toEqual({
      current_user: 'loam',
      current_database: 'loam',
      rolsuper: false,
      rolbypassrls: false,
      rolcreatedb: true,
      signals: true,
      owner: 'loam',
      encoding: 'UTF8',
      fsync: 'on',
      addresses: '',
      timezone: 'UTC',
    })
    await query(url, 'create table kept (id serial primary key); insert into kept default values')
  })

  it('is there again after a stop, with nothing of the run left outside of the data folder', async () => {
    const began = Date.now()
    const { url, stop } = await start()
    plainStartMs = Date.now() - began
    const socketDir = new URL(url).searchParams.get('host') ?? ''
    expect(await countRows(url)).toBe(1)
    expect(statSync(socketDir).mode & 0o777).toBe(0o700)
    await stop()
    expect(existsSync(socketDir)).toBe(false)
    expect(existsSync(join(dataDir, 'server.pid'))).toBe(false)
  })

  it('has pg_trgm and btree_gin, also where it is cloned from a template of our own', async () => {
    const { url } = await start()
    await query(url, 'create database original')
    await query(url, 'create database clone template original')
    const clone = url.replace('/loam?', '/clone?')
    await query(clone, 'create extension if not exists pg_trgm; create extension if not exists btree_gin')
    expect(await query(clone, `select similarity('loam', 'loamy') > 0.5 as found`)).toEqual([{ found: true }])
    await query(url, 'drop database clone')
    await query(url, 'drop database original')
  })

  it('starts whatever the locale and the PG variables of the environment', async () => {
    const env = { ...process.env, LANG: 'xx_YY.nonsense', LC_ALL: 'xx_YY', PGPORT: '9', PGSSLMODE: 'require' }
    const program = await run('start', dataDir, { env: { ...env, PGHOST: 'nowhere', PGDATA: '/nowhere' } })
    expect(program.error).toBe('')
    expect(await countRows(program.url)).toBe(1)
    await program.stop()
  })

  it.runIf(fixture.canBeOrdinary)(
    'runs for an ordinary user, and for root as the user that owns the files',
    async () => {
      const parent = fixture.makeFolder()
      const dir = join(parent, 'data')
      fixture.giveTo(fixture.ordinary, parent)
      const first = await run('start', dir, fixture.ordinary)
      expect(first.error).toBe('')
      expect(statSync(`/proc/${fixture.readPostmaster(dir)}`).uid).toBe(fixture.ordinary.uid)
      await query(first.url, 'create table kept (id int)')
      await first.stop()

      const asRoot = await startEmbedded({ dataDir: dir, log })
      expect(await countRows(asRoot.url)).toBe(0)
      expect(statSync(`/proc/${fixture.readPostmaster(dir)}`).uid).toBe(fixture.ordinary.uid)
      await asRoot.stop()

      const again = await run('start', dir, fixture.ordinary)
      expect(again.error).toBe('')
      await again.stop()
    },
  )
})

describe('a start that cannot succeed', () => {
  it('shows the end of the log of PostgreSQL and where it is, and leaves the folder free', async () => {
    const settings = join(dataDir, 'postgres/postgresql.conf')
    const good = readFileSync(settings, 'utf8')
    appendFileSync(settings, 'nonsense_setting = 1\n')
    const error = await start().catch(String)
    writeFileSync(settings, good)
    expect(error).toContain(postgresLog)
    expect(error).toContain('nonsense_setting')
    expect(await countRows((await start()).url)).toBe(1)
  })

  it('refuses a folder on which another server runs, naming it, its process and what to do', async () => {
    const { url } = await start()
    const second = await run('start', dataDir)
    expect(second.error).toContain(
      `Another Loam (process ${process.pid}) is running on the data folder ${dataDir}`,
    )
    expect(second.error).toContain('LOAM_DATA_DIR')
    expect(await countRows(url)).toBe(1)
  })

  it('lets one of many simultaneous servers through', async () => {
    const programs = await Promise.all([1, 2, 3].map(() => run('start', dataDir)))
    expect(programs.filter(({ error }) => error === '')).toHaveLength(1)
    expect(programs.filter(({ error }) => error.includes('Another Loam'))).toHaveLength(2)
    for (const program of programs) await program.stop()
  })
})

describe('R12 after kill -9 of the Loam process', () => {
  it('PostgreSQL ends by itself', async () => {
    const program = await run('start', dataDir)
    const postmaster = fixture.readPostmaster(dataDir)
    await fixture.kill(program.child)
    await waitFor(() => !fixture.isRunning(postmaster), shortlyMs())
  })

  it('an immediate next start has the committed data within 10 s', async () => {
    const program = await run('start', dataDir)
    const before = Number(await countRows(program.url))
    await query(program.url, 'insert into kept default values')
    await fixture.kill(program.child)
    const began = Date.now()
    expect(await countRows((await start()).url)).toBe(before + 1)
    expect(Date.now() - began).toBeLessThan(shortlyMs())
  })

  it('a PostgreSQL that does not end by itself is ended by the next start within 10 s', async () => {
    const program = await run('start', dataDir)
    const before = Number(await countRows(program.url))
    const postmaster = fixture.readPostmaster(dataDir)
    process.kill(postmaster, 'SIGSTOP')
    await fixture.kill(program.child)
    const began = Date.now()
    expect(await countRows((await start()).url)).toBe(before)
    expect(Date.now() - began).toBeLessThan(shortlyMs())
    expect(lines.at(-1)).toContain(ENDING_ORPHAN)
  })

  it('a stale postmaster.pid with the number of another process needs no human, and that process lives', async () => {
    const pidFile = join(dataDir, 'postgres/postmaster.pid')
    const owner = statSync(join(dataDir, 'postgres'))
    const stranger = spawn('sleep', ['60'], { uid: owner.uid, gid: owner.gid })
    writeFileSync(pidFile, `${stranger.pid}\n${join(dataDir, 'postgres')}\n1\n5432\n\n\n 1 1\nready   \n`)
    expect(await countRows((await start()).url)).toBeGreaterThan(0)
    expect(fixture.isRunning(stranger.pid ?? 0)).toBe(true)
    stranger.kill()
  })
})

describe('after kill -9 of PostgreSQL', () => {
  const isAnswering = (url: string) =>
    countRows(url).then(
      () => true,
      () => false,
    )

  it('it runs again within 10 s, although one of its processes was busy', async () => {
    const { url } = await start()
    const busy = new Client(url)
    busy.on('error', () => undefined)
    await busy.connect()
    const answer = busy.query('select count(*) from generate_series(1, 1000000000000)').catch(String)
    await sleep(200)
    process.kill(fixture.readPostmaster(dataDir), 'SIGKILL')
    await waitFor(() => isAnswering(url), shortlyMs())
    expect(await answer).toContain('Connection terminated')
    expect(lines).toContainEqual(expect.stringContaining('PostgreSQL went down (ended by SIGKILL'))
  })

  it('its start is retried for as long as it fails, and each retry is logged', async () => {
    const { url } = await start()
    const control = join(dataDir, 'postgres/global/pg_control')
    renameSync(control, `${control}.away`)
    lines.length = 0
    process.kill(fixture.readPostmaster(dataDir), 'SIGKILL')
    await waitFor(() => lines.some((line) => line.includes(describeFailures(5))))
    renameSync(`${control}.away`, control)
    await waitFor(() => isAnswering(url), shortlyMs())
    expect(lines).toContainEqual(expect.stringContaining(postgresLog))
  })

  it('a stop during the retries ends them', async () => {
    const { stop } = await start()
    const control = join(dataDir, 'postgres/global/pg_control')
    renameSync(control, `${control}.away`)
    lines.length = 0
    process.kill(fixture.readPostmaster(dataDir), 'SIGKILL')
    await waitFor(() => lines.filter((line) => line.includes(STARTING_AGAIN)).length > 2)
    await stop()
    const said = lines.length
    renameSync(`${control}.away`, control)
    await sleep(1000)
    expect(lines).toHaveLength(said)
  })
})

describe('a command', () => {
  it('uses the server that runs on the folder, and leaves it running', async () => {
    const { url } = await start()
    const command = await openEmbedded({ dataDir, log })
    expect(command.url).toBe(url)
    await command.stop()
    expect(await countRows(url)).toBeGreaterThan(0)
  })

  it('ends without an error when that server has ended before it', async () => {
    const { stop } = await start()
    const command = await openEmbedded({ dataDir, log })
    await stop()
    await command.stop()
  })

  it('waits for a server that is starting', async () => {
    const fresh = join(fixture.makeFolder(), 'data')
    const server = run('start', fresh)
    await waitFor(() => existsSync(join(fresh, 'server.pid')))
    const command = await openEmbedded({ dataDir: fresh, log })
    expect(command.url).toBe((await server).url)
    await command.stop()
    await (await server).stop()
  })

  it('runs the database itself when there is no server', async () => {
    const command = await openEmbedded({ dataDir, log })
    const postmaster = fixture.readPostmaster(dataDir)
    expect(await countRows(command.url)).toBeGreaterThan(0)
    await command.stop()
    expect(fixture.isRunning(postmaster)).toBe(false)
  })

  it('goes on when the command that runs its database has finished: that command waits for it', async () => {
    const first = await run('open', dataDir)
    const second = await openEmbedded({ dataDir, log })
    expect(second.url).toBe(first.url)
    const stopped = first.stop()
    await waitFor(() => first.lines.some((line) => line.includes(WAITING_FOR_COMMAND)))
    expect(await countRows(second.url)).toBeGreaterThan(0)
    await second.stop()
    await stopped
  })

  it('that begins at any moment while another command ends has a database', async () => {
    for (let delay = 0; delay < 60; delay += 12) {
      const first = await openEmbedded({ dataDir, log })
      const stopped = first.stop()
      await sleep(delay)
      const second = await openEmbedded({ dataDir, log })
      expect(await countRows(second.url)).toBeGreaterThan(0)
      await second.stop()
      await stopped
    }
  })

  it('is waited for by a server', async () => {
    const command = await run('open', dataDir)
    const server = start()
    await sleep(300)
    expect(await countRows(command.url)).toBeGreaterThan(0)
    await command.stop()
    expect(await countRows((await server).url)).toBeGreaterThan(0)
  })

  it.runIf(fixture.canBeOrdinary)(
    'of a user who may not reach the database fails at once with the reason',
    async () => {
      const { url } = await start()
      chmodSync(dataDir, 0o777)
      const command = await run('open', dataDir, fixture.ordinary)
      chmodSync(dataDir, 0o711)
      expect(command.error).toContain(`Another Loam (process ${process.pid})`)
      expect(command.error).toContain('EACCES')
      expect(await countRows(url)).toBeGreaterThan(0)
    },
  )
})
