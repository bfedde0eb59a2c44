import { defineAction } from '../define.ts'
import { field } from '../fields.ts'
import { done, failed } from '../outcome.ts'
import { output } from '../outputs.ts'
import { detectTechnologies, tracesOfNames, tracesOfPage } from '../technologies/detection.ts'
import { readDocument } from '../web/document.ts'
import { fetchHome } from '../web/page-fetch.ts'
import { readSite } from '../web/site.ts'

export default defineAction({
  id: 'detect_technologies',
  name: 'Detect technologies',
  description:
    'Tells what a website is made with and which services its company uses, from its home page and its DNS records.',
  category: 'companies',
  timeoutSeconds: 90,
  inputs: {
    domain: field.text({ required: true, description: 'The domain or any address on it: acme.com.' }),
  },
  outputs: {
    technologies: output.table('What was found, by category and name.', {
      name: 'string',
      category: 'string',
      evidence: 'string',
    }),
  },
  async run({ inputs, context }) {
    const site = readSite(inputs.domain)
    if (site === null) return failed(`domain: "${inputs.domain.slice(0, 100)}" names no website`)
    const [result, names] = await Promise.all([
      fetchHome(context, site.homes),
      site.isAddress ? new Map() : tracesOfNames(context.egress.dns, site.host, site.domain),
    ])
    if (!result.ok) return result.outcome
    const read = readDocument(result.page)
    if (!read.ok) return failed(read.message)
    return done({ technologies: detectTechnologies(new Map([...tracesOfPage(read.document), ...names])) })
  },
})
