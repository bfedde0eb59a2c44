import { Readable } from 'node:stream'
import { writeXlsxStream } from 'hucre/xlsx'

export const HEADERS = ['company', 'domain', 'industry', 'employees', 'note']
const INDUSTRIES = ['software', 'retail', 'energy', 'health']

/** Returns the values of the n-th row of a large file. The last ones need quotes in CSV. */
export function valuesOf(n: number): string[] {
  return [
    `Company ${n}`,
    `company-${n}.example.com`,
    INDUSTRIES[n % INDUSTRIES.length] ?? '',
    String((n * 7919) % 10_000),
    `A line of text, about row ${n}, that is as long as such lines are`,
  ]
}

export async function* makeCsv(rows: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${HEADERS.join(',')}\n`)
  for (let from = 0; from < rows; from += 1000) {
    let lines = ''
    for (let n = from; n < Math.min(rows, from + 1000); n++) {
      const [company, domain, industry, employees, note] = valuesOf(n)
      lines += `${company},${domain},${industry},${employees},"${note}"\n`
    }
    yield Buffer.from(lines)
  }
}

export function makeXlsx(rows: number): AsyncIterable<Uint8Array> {
  function* lines(): Generator<string[]> {
    yield HEADERS
    for (let n = 0; n < rows; n++) yield valuesOf(n)
  }
  return Readable.fromWeb(writeXlsxStream(lines(), { name: 'Rows' }))
}
