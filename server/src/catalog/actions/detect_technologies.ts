import { readSiteTechnologies } from '../built-in/technologies/site-technologies.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'
import { output } from '../outputs.ts'

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
    technologies: output.table('The technologies, by category and name.', {
      name: 'string',
      category: 'string',
      evidence: 'string',
    }),
  },
  async run({ inputs, context }) {
    const found = await readSiteTechnologies(context, inputs.domain)
    return Array.isArray(found) ? done({ technologies: found }) : found
  },
})
