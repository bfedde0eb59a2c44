import { open } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { heldMs } from '../../lib/timing/testing/watched-turns.ts'
import { readXlsx } from '../reading/xlsx-records.ts'

/** Reads a workbook whole. Many of the worst workbooks are refused, which is as good. */
export async function readWorkbook(path: string, spoolFolder: string): Promise<void> {
  const file = await open(path)
  let empty = 0
  try {
    for await (const { records } of readXlsx({ file, sheetName: null, spoolFolder }, ['a'], null)) {
      if (records.length === 0) empty += 1
    }
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
  } finally {
    await file.close()
  }
  if (empty > 0) throw new Error(`${empty} pieces of the workbook have no records`)
}

// As a program: prints the longest time that reading the workbook held the thread.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [path = '', folder = '', allowed = '200'] = process.argv.slice(2)
  process.stdout.write(String(await heldMs(() => readWorkbook(path, folder), Number(allowed))))
}
