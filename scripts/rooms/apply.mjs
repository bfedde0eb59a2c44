/* oxlint-disable no-console */
// Moves all files of ROOT by map.mjs and rewrites imports, URLs and mentions of paths.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path/posix'
import { ROOT, tracked } from './graph.mjs'
import { mapPath } from './map.mjs'
const moved = new Map(tracked.map((f) => [f, mapPath(f)]).filter(([a, b]) => a !== b))
const all = new Set(tracked)
const aliases = { '#contract/': 'contract/', '#server/': 'server/src/', '#test/': 'test/' }
function rel(from, to) {
  const r = relative(dirname(from), to)
  return r.startsWith('.') ? r : './/' + r
}
const TEXT = /\.(ts|tsx|mts|mjs|json|md|css|html|yml|sh)$/
const out = new Map()
// folders that moved whole: for URLs that name folders
const folders = new Map()
for (const f of tracked) {
  let d = dirname(f)
  const t = dirname(mapPath(f))
  if (!folders.has(d)) folders.set(d, new Set())
  folders.get(d).add(t)
}
function target(path) {
  // file or folder, old -> new
  if (all.has(path)) return mapPath(path)
  const clean = path.replace(/\/$/, '')
  if (folders.has(clean) && folders.get(clean).size === 1)
    return [...folders.get(clean)][0] + (path.endsWith('/') ? '/' : '')
  return null
}
for (const file of tracked) {
  if (!TEXT.test(file) && file !== '.ci/run') continue
  if (file === 'package-lock.json') continue
  const to = mapPath(file)
  let text = readFileSync(join(ROOT, file), 'utf8')
  if (/\.(ts|tsx|mts|mjs)$/.test(file)) {
    // every quoted relative or aliased path
    text = text.replace(/(['"`])((?:\.{1,2}\/|#(?:contract|server|test)\/)[^'"`\n$]*?)\1/g, (all_, q, t) => {
      for (const [alias, base] of Object.entries(aliases))
        if (t.startsWith(alias)) {
          const n = target(base + t.slice(alias.length))
          if (n === null) return all_
          for (const [a2, b2] of Object.entries(aliases))
            if (n.startsWith(b2)) return q + a2 + n.slice(b2.length) + q
          return all_
        }
      const old = join(dirname(file), t)
      const n = target(old) ?? (to !== file && (existsSync(join(ROOT, old)) || all.has(old)) ? old : null)
      if (n === null) return all_
      const r = rel(to, n) + (t.endsWith('/') ? '/' : '')
      return q + r + q
    })
  }
  out.set(file, text)
}
// mentions of full paths in any text
const mentions = [...moved].sort((a, b) => b[0].length - a[0].length)
const byOld = new Map(mentions)
const PATH = /(?:server\/src|test|bench)\/[\w./-]+?\.(?:ts|mjs|json|md|tar\.gz)\b/g
for (const [file, text] of out)
  out.set(
    file,
    text.replace(PATH, (m, at, whole) => {
      const prev = whole[at - 1]
      if (prev !== undefined && /[\w/.-]/.test(prev) && !(whole.slice(at - 2, at) === './/')) return m
      return byOld.get(m) ?? m
    }),
  )
const FOLDERS = {
  'server/src/catalog/chain/': 'server/src/catalog/chain/',
  'server/src/sheets/rows/': 'server/src/sheets/rows/',
  'server/src/organisation/': 'server/src/organisation/',
  'server/src/sources/pulls/': 'server/src/sources/pulls/',
  'server/src/records/segments/': 'server/src/records/segments/',
  'server/src/records/syncs/': 'server/src/records/syncs/',
  'server/src/runs/engine/': 'server/src/runs/engine/',
  'server/src/money/estimates/': 'server/src/money/estimates/',
  'server/src/database/backup/': 'server/src/database/backup/',
  'server/src/api/screens/': 'server/src/api/screens/',
  'server/src/database/queue/': 'server/src/database/queue/',
  'server/src/database/migrations/': 'server/src/database/migrations/',
  'server/src/database/connection/': 'server/src/database/connection/',
  'server/src/database/embedded/': 'server/src/database/embedded/',
  'server/src/money/store/purses/': 'server/src/money/store/purses/',
  'server/src/records/store/': 'server/src/records/store/',
  'server/src/records/segments/store/': 'server/src/records/segments/store/',
  'server/src/records/syncs/store/': 'server/src/records/syncs/store/',
  'server/src/database/backup/sql/': 'server/src/database/backup/sql/',
  'server/src/sheets/store/': 'server/src/sheets/store/',
  'server/src/organisation/store/': 'server/src/organisation/store/',
  'server/src/runs/store/': 'server/src/runs/store/',
  'server/src/<room>/store/<resource>.ts': 'server/src/<room>/store/<resource>.ts',
  'server/src/<room>/routes/<resource>.ts': 'server/src/<room>/routes/<resource>.ts',
}
// places named from server/src, in quotes or in comments
const SHORT =
  /(?<![\w/.@#-])((?:store|org|rows|engine|segments|segment-syncs|source-pulls|chain|api|runs|files|records|sources|lib|estimates|shortcuts|agent|backup)\/[\w-]+(?:\/[\w.-]+)*\.(?:test\.)?ts)\b/g
for (const [file, text] of out)
  out.set(
    file,
    text.replace(SHORT, (m) => {
      const n = byOld.get('server/src/' + m)
      return n === undefined ? m : n.replace('server/src/', '')
    }),
  )
for (const [file, text] of out) {
  let t = text
  for (const [a, b] of Object.entries(FOLDERS))
    t = t.replaceAll(
      new RegExp(a.replace(/[<>.]/g, '\\$&') + '(?![\\w-]+(?:/[\\w-]+)*\\.(?:ts|md)\\b)', 'g'),
      b,
    )
  out.set(file, t)
}
for (const b of moved.values()) {
  mkdirSync(join(ROOT, dirname(b)), { recursive: true })
}
const list = [...moved]
for (const [a, b] of list) execFileSync('git', ['mv', a, b], { cwd: ROOT })
for (const [file, text] of out) {
  const at = join(ROOT, mapPath(file))
  if (readFileSync(at, 'utf8') !== text) writeFileSync(at, text)
}
console.log('moved', moved.size)
