// Builds the dashboard if its sources have changed since the last build. Like setup.mjs it uses only Node's
// own modules.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'

const SOURCES = ['dashboard', 'contract', 'package-lock.json']
const BUILT = 'dist'
/** The folder of a build in progress. A failed build leaves the previous one untouched. */
const PARTIAL = 'dist.partial'
const NOT_SOURCES = new Set([BUILT, PARTIAL, 'node_modules'])

/**
 * Returns true if the last build matches the current sources. A checkout without the dashboard needs no
 * build.
 */
export function isDashboardBuilt(root) {
  return !existsSync(join(root, 'dashboard', 'vite.config.ts')) || readMark(root) === hashSources(root)
}

/** Builds the dashboard. Returns null, or the reason why the build failed. */
export async function buildDashboard(root) {
  const hash = hashSources(root)
  const folder = join(root, 'dashboard')
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  if (!existsSync(vite)) return 'vite is not installed; run npm ci\n'
  const { code, output } = await run(findNode(root), [
    vite,
    'build',
    folder,
    '--outDir',
    PARTIAL,
    '--emptyOutDir',
    '--logLevel',
    'warn',
  ])
  if (code !== 0) {
    rmSync(join(folder, PARTIAL), { recursive: true, force: true })
    return output
  }
  writeFileSync(markIn(join(folder, PARTIAL)), hash)
  rmSync(join(folder, BUILT), { recursive: true, force: true })
  renameSync(join(folder, PARTIAL), join(folder, BUILT))
  return null
}

const markIn = (folder) => join(folder, '.sources')

function readMark(root) {
  const mark = markIn(join(root, 'dashboard', BUILT))
  return existsSync(mark) ? readFileSync(mark, 'utf8') : null
}

function hashSources(root) {
  const hash = createHash('sha256')
  for (const source of SOURCES) {
    for (const path of listFiles(root, source)) {
      hash.update(`${path.split(sep).join('/')}\0`).update(readFileSync(join(root, path)))
    }
  }
  return hash.digest('hex')
}

/** Lists the files in a fixed order, independent of the file system. */
function listFiles(root, path) {
  if (!statSync(join(root, path)).isDirectory()) return [path]
  const names = readdirSync(join(root, path)).filter((name) => !NOT_SOURCES.has(name))
  return names.sort().flatMap((name) => listFiles(root, join(path, name)))
}

/**
 * Returns the Node that was installed with the packages, if any, because the machine's own may be too old for
 * the build.
 */
function findNode(root) {
  const own = join(root, 'node_modules', '.bin', 'node')
  return existsSync(own) ? own : process.execPath
}

function run(command, args) {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production', NO_COLOR: '1' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  return new Promise((resolve) => {
    child.on('error', (cause) => resolve({ code: 1, output: `${cause.message}\n` }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}
