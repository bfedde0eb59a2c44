// Brings a checkout to the state described by package-lock.json: the production packages before `npm start`
// and every command, and the development tools as well before `npm test` (`--development`). If the dashboard
// is served it is also built, when its sources have changed. The script runs on any Node version, so it uses
// only Node's own modules.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDashboard, isDashboardBuilt } from './dashboard-build.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const stamp = join(root, 'node_modules', '.loam-setup')
const lock = join(root, '.setup-lock')
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform} ${process.arch}`)
  .digest('hex')

const isForProduction = !process.argv.includes('--development')

/** Returns what is installed of this lock file: `all`, `production` or null. */
function readStamp() {
  const [hash, extent = 'all'] = existsSync(stamp) ? readFileSync(stamp, 'utf8').split(' ') : []
  return hash === wanted ? extent : null
}

const isDone = () => readStamp() === 'all' || (isForProduction && readStamp() === 'production')

if (!isDone()) {
  takeLock()
  let isInstalled = false
  try {
    isInstalled = isDone() || (await install())
  } finally {
    rmSync(lock, { force: true })
  }
  if (!isInstalled) process.exit(1)
}

/** Commands of the operator do not wait for the dashboard, which they do not serve. */
const isServed = !isCommand() || process.argv[2] === 'serve'

if (isServed && !isDashboardBuilt(root)) {
  takeLock()
  try {
    if (!isDashboardBuilt(root)) await build()
  } finally {
    rmSync(lock, { force: true })
  }
}

function isCommand() {
  return !(process.argv[1] ?? '').endsWith('setup.mjs')
}

/** Builds the dashboard. If that fails the server still runs, and shows how to build it. */
async function build() {
  const stopProgress = showProgress('building the dashboard, only after its sources changed')
  const failure = await buildDashboard(root)
  stopProgress(failure === null ? 'done' : 'failed')
  if (failure === null) return
  process.stderr.write(failure)
  process.stderr.write(
    'loam: the dashboard could not be built (the reason is above); everything else works without it.\n',
  )
}

async function install() {
  // `npm ci` empties node_modules first. If only the development tools are missing, a server may be using it.
  const how = readStamp() === 'production' ? ['install', '--no-save'] : ['ci']
  if (isForProduction) how.push('--omit=dev')
  const stopProgress = showProgress('installing dependencies, only after package-lock.json changed')
  const { code, output } = await runNpm([...how, '--no-audit', '--no-fund', '--loglevel=error'])
  stopProgress(code === 0 ? 'done' : 'failed')
  if (code === 0) {
    writeFileSync(stamp, isForProduction ? `${wanted} production` : wanted)
    return true
  }
  process.stderr.write(output)
  process.stderr.write(
    `loam: npm ${how[0]} failed (its output is above). Check the network or registry and try again.\n`,
  )
  return false
}

/**
 * Runs npm and returns its output. Most of that is about packages for other machines, so it is only shown if
 * npm fails.
 */
function runNpm(args) {
  const npm = process.env.npm_execpath
  const [command, first] = npm ? [process.execPath, [npm]] : ['npm', []]
  const child = spawn(command, [...first, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  return new Promise((resolve) => {
    child.on('error', (cause) => resolve({ code: 1, output: `${cause.message}\n` }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/** Prints one line, which counts the seconds on a terminal. */
function showProgress(what) {
  const began = Date.now()
  const say = (text) => `loam: ${what}: ${text}`
  const seconds = () => `${Math.round((Date.now() - began) / 1000)} s`
  const { isTTY } = process.stderr
  if (!isTTY) process.stderr.write(`${say('...')}\n`)
  const timer = isTTY ? setInterval(() => process.stderr.write(`\r${say(seconds())}`), 250) : undefined
  return (end) => {
    clearInterval(timer)
    process.stderr.write(`${isTTY ? '\r' : ''}${say(`${end} after ${seconds()}`)}\n`)
  }
}

/**
 * Takes the lock of the installation. Two installations at once would damage each other: the second waits,
 * and then finds the work done.
 */
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
