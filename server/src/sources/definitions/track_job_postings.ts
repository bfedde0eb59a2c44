import { boardJobs } from '../boards/jobs.ts'
import { defineSource } from '../define.ts'
import { jobs, theirstackJobs } from '../theirstack/jobs.ts'
import { theirstackOptions } from '../theirstack/options.ts'

export default defineSource({
  slug: 'track_job_postings',
  name: 'Track job postings',
  description: 'New postings that fit, by schedule: by TheirStack, or on job boards that are named.',
  mode: 'recurring',
  shape: jobs,
  pulls: [theirstackJobs, boardJobs],
  options: theirstackOptions,
})
