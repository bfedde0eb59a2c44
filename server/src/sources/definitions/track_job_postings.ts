import { defineSource } from '../define.ts'
import { boardJobs } from '../systems/boards/jobs.ts'
import { jobs, theirstackJobs } from '../systems/theirstack/jobs.ts'
import { theirstackOptions } from '../systems/theirstack/options.ts'

export default defineSource({
  slug: 'track_job_postings',
  name: 'Track job postings',
  description: 'New job postings that match, on a schedule: by TheirStack, or on given job boards.',
  mode: 'recurring',
  shape: jobs,
  pulls: [theirstackJobs, boardJobs],
  options: theirstackOptions,
})
