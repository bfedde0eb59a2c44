// Brings a checkout to the state that package-lock.json describes. Runs before `npm start` and `npm test`
// on whatever Node the machine has, so it uses nothing but Node's own modules.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const stamp = join(root, 'node_modules', '.loam-setup')
const lock = join(root, '.setup-lock')
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform} ${process.arch}`)
  .digest('hex')

const isDone = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted

if (!isDone()) {
  takeLock()
  try {
    if (!isDone()) install()
  } finally {
    rmSync(lock, { force: true })
  }
}

function install() {
  process.stderr.write('loam: installing dependencies (only when package-lock.json changed)\n')
  const npm = process.env.npm_execpath
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []]
  const result = spawnSync(command, [...args, 'ci', '--no-audit', '--no-fund'], {
    cwd: root,
    stdio: ['ignore', process.stderr, process.stderr],
  })
  if (result.status !== 0) {
    process.stderr.write(
      'loam: npm ci failed (its output is above). Check the network or registry and try again.\n',
    )
    rmSync(lock, { force: true })
    process.exit(1)
  }
  writeFileSync(stamp, wanted)
}

/** Two installations at once would spoil each other: the second waits, and then finds the work done. */
function takeLock() {
  const mine = `${lock}.${process.pid}`
  writeFileSync(mine, String(process.pid))
  try {
    while (!tryLink(mine)) {
      if (!isAlive(Number(readLock()))) rmSync(lock, { force: true })
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    }
  } finally {
    rmSync(mine, { force: true })
  }
}

function tryLink(mine) {
  try {
    linkSync(mine, lock)
    return true
  } catch (cause) {
    if (cause.code === 'EEXIST') return false
    throw cause
  }
}

function readLock() {
  try {
    return readFileSync(lock, 'utf8')
  } catch (cause) {
    if (cause.code === 'ENOENT') return String(process.pid)
    throw cause
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return cause.code === 'EPERM'
  }
}
