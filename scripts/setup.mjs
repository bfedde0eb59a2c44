// Brings a checkout to the state that package-lock.json describes. Runs before `npm start` and `npm test`
// on whatever Node the machine has, so it uses nothing but Node's own modules.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const stamp = join(root, 'node_modules', '.loam-setup')
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform} ${process.arch}`)
  .digest('hex')

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) install()

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
    process.exit(1)
  }
  writeFileSync(stamp, wanted)
}
