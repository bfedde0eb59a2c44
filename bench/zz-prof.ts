import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importJob } from '#server/files/import-job.ts'
import { openStorage } from '#server/files/storage.ts'
import { readConfig } from '#server/lib/config.ts'
import { createLog } from '#server/lib/log.ts'
import { openInstallation } from '#test/installation.ts'
import { putFile, startImport } from '#test/imports.ts'
import { makeCsv, makeXlsx } from '#test/large-file.ts'
import { callOver } from '#test/sheets.ts'
const ROWS = Number(process.argv[2] ?? 200000)
const kind = process.argv[3] ?? 'csv'
const inst = await openInstallation()
const { orgId, key } = await inst.makeOrg('x')
const server = await inst.startServer({ LOAM_ROLES: 'api' })
const ref = await putFile(inst, orgId, `rows.${kind}`, kind === 'csv' ? makeCsv(ROWS) : makeXlsx(ROWS))
const base = await startImport(callOver(server.url, key), ref)
const [{ import_id }] = await inst.store.query<{ import_id: string }>({ text: 'select import_id from imports' }) as any
const config = readConfig({ LOAM_DATA_DIR: join(inst.folder, 'server') })
const pgCpu = async () => { const rows = await inst.store.query<{pid:number}>({ text: `select pid from pg_stat_activity where backend_type = 'client backend'` }); return rows.reduce((s, r) => { try { const f = readFileSync(`/proc/${r.pid}/stat`,'utf8').split(') ')[1].split(' '); return s + Number(f[11]) + Number(f[12]) } catch { return s } }, 0) * 10 }
const g0 = await pgCpu(); const c0 = process.cpuUsage(); const t0 = performance.now()
let peak = 0; const base0 = process.memoryUsage().rss
const timer = setInterval(() => { peak = Math.max(peak, process.memoryUsage().rss) }, 20)
await importJob({ config, store: inst.store, storage: openStorage(config), log: createLog('silent') }).run({ org_id: orgId, import_id }, new AbortController().signal)
clearInterval(timer)
const c = process.cpuUsage(c0)
console.log({ rows: ROWS, wall: Math.round(performance.now() - t0), nodeCpu: Math.round((c.user + c.system)/1000), pgCpu: (await pgCpu()) - g0, peakMb: (peak - base0) >> 20, heap: process.memoryUsage() })
await inst.close()
