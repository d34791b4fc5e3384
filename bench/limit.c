/* The reference pipeline over libjpeg-turbo alone, as a peer: the limit for everybody who decodes with that library.
 *
 *   limit LIST WORKERS EPOCHS TURNS VARIANT
 *
 * Reads a file, decodes a random 224 x 224 window of it (accurate DCT; a margin on the left and on the right, which the
 * upsampling of colour looks at, makes its pixels those of the whole picture), flips every second one, writes
 * x / 127.5 - 1 into a batch. Labels are left out. VARIANT is not looked at. See peer.py for the turns. */
#define _GNU_SOURCE /* asprintf */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jpeglib.h>

enum { SIDE = 224, ROW = 3 * SIDE, PICTURE = SIDE * ROW, BATCH = 128, BATCHES = 4, MOST_WORKERS = 256, MARGIN = 2 };
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

struct job {
  char **paths;
  int *order;
  int files, pictures; /* listed; in whole batches */
  atomic_int next;
  float *batches; /* a ring of BATCHES */
};

struct worker {
  pthread_t thread;
  struct job *job;
  uint64_t random;
  struct jpeg_decompress_struct decoder;
  struct jpeg_error_mgr errors;
  unsigned char *data, *pixels; /* the file; the decoded rows */
  size_t data_size, pixels_size;
};

static void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void *grow(void *memory, size_t *size, size_t need) {
  if (need <= *size) return memory;
  *size = need;
  if (!(memory = realloc(memory, need))) fail("limit", "out of memory");
  return memory;
}

/* xorshift64*: below n. */
static unsigned draw(uint64_t *state, unsigned n) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (unsigned)(((*state * 0x2545F4914F6CDD1Dull >> 32) * n) >> 32);
}

static void on_error(j_common_ptr common) {
  char text[JMSG_LENGTH_MAX];
  common->err->format_message(common, text);
  fail("libjpeg", text);
}

static void on_warning(j_common_ptr common, int level) {
  (void)common;
  (void)level;
}

static size_t read_file(struct worker *w, const char *path) {
  struct stat about;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fstat(file, &about)) fail(path, strerror(errno));
  size_t size = (size_t)about.st_size, done = 0;
  w->data = grow(w->data, &w->data_size, size);
  while (done < size) {
    ssize_t n = read(file, w->data + done, size - done);
    if (n <= 0) fail(path, n ? strerror(errno) : "ended early");
    done += (size_t)n;
  }
  close(file);
  return size;
}

static void store(const unsigned char *restrict row, int flip, float *restrict out) {
  unsigned char flipped[ROW];
  if (flip) {
    for (int i = 0; i < SIDE; i++) memcpy(flipped + ROW - 3 * (i + 1), row + 3 * i, 3);
    row = flipped;
  }
  for (int i = 0; i < ROW; i++) out[i] = (float)row[i] * (1.0f / 127.5f) - 1.0f;
}

static void decode(struct worker *w, const char *path, float *out) {
  j_decompress_ptr d = &w->decoder;
  jpeg_mem_src(d, w->data, read_file(w, path));
  jpeg_read_header(d, TRUE);
  d->out_color_space = JCS_RGB;
  d->dct_method = JDCT_ISLOW;
  d->do_fancy_upsampling = TRUE;
  if (d->image_width < SIDE || d->image_height < SIDE) fail(path, "smaller than the window");
  JDIMENSION x = draw(&w->random, d->image_width - SIDE + 1), y = draw(&w->random, d->image_height - SIDE + 1);
  JDIMENSION left = x > MARGIN ? x - MARGIN : 0;
  JDIMENSION right = x + SIDE + MARGIN < d->image_width ? x + SIDE + MARGIN : d->image_width;
  JDIMENSION width = right - left;
  jpeg_start_decompress(d);
  jpeg_crop_scanline(d, &left, &width);
  if (y) jpeg_skip_scanlines(d, y);
  w->pixels = grow(w->pixels, &w->pixels_size, (size_t)3 * width);
  int flip = draw(&w->random, 2) == 1;
  for (int i = 0; i < SIDE; i++) {
    JSAMPROW row = w->pixels;
    if (jpeg_read_scanlines(d, &row, 1) != 1) fail(path, "a row is missing");
    store(row + 3 * (x - left), flip, out + (size_t)i * ROW);
  }
  jpeg_abort_decompress(d);
}

static void *work(void *argument) {
  struct worker *w = argument;
  for (int i; (i = atomic_fetch_add(&w->job->next, 1)) < w->job->pictures;)
    decode(w, w->job->paths[w->job->order[i]], w->job->batches + (size_t)(i % (BATCHES * BATCH)) * PICTURE);
  return NULL;
}

static void run(struct job *job, struct worker *workers, int count, int epochs) {
  for (int epoch = 0; epoch < epochs; epoch++) {
    for (int i = job->files - 1; i > 0; i--) {
      int j = (int)draw(&workers->random, (unsigned)i + 1), other = job->order[j];
      job->order[j] = job->order[i];
      job->order[i] = other;
    }
    atomic_store(&job->next, 0);
    for (int i = 0; i < count; i++)
      if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) fail("limit", "no thread");
    for (int i = 0; i < count; i++) pthread_join(workers[i].thread, NULL);
  }
}

static void read_list(struct job *job, char *path) {
  FILE *list = fopen(path, "r");
  char *line = NULL, *folder = strrchr(path, '/');
  size_t size = 0, room = 0;
  if (!list) fail(path, strerror(errno));
  while (getline(&line, &size, list) > 0) {
    char *label = strrchr(line, ' ');
    if (!label) fail(path, "a line without a label");
    job->paths = grow(job->paths, &room, (size_t)(job->files + 1) * sizeof *job->paths);
    int whole = line[0] == '/' || !folder;
    if (asprintf(&job->paths[job->files++], "%.*s%.*s", whole ? 0 : (int)(folder - path + 1), path,
                 (int)(label - line), line) < 0)
      fail("limit", "out of memory");
  }
  fclose(list);
  free(line);
}

/* The mean of a batch, so that the harness can see that the pixels are of the right kind. */
static double mean(const float *batch) {
  double sum = 0;
  for (size_t i = 0; i < (size_t)BATCH * PICTURE; i++) sum += batch[i];
  return sum / ((double)BATCH * PICTURE);
}

int main(int arguments, char **argument) {
  if (arguments != 6) fail("usage", "limit LIST WORKERS EPOCHS TURNS VARIANT");
  int count = atoi(argument[2]), epochs = atoi(argument[3]), turns = atoi(argument[4]);
  if (count < 1 || count > MOST_WORKERS) fail(argument[2], "not a number of workers");
  struct job job = {0};
  read_list(&job, argument[1]);
  job.pictures = job.files / BATCH * BATCH;
  job.order = malloc((size_t)job.files * sizeof *job.order);
  job.batches = calloc((size_t)BATCHES * BATCH * PICTURE, sizeof *job.batches);
  struct worker *workers = calloc((size_t)count, sizeof *workers);
  if (!job.order || !job.batches || !workers) fail("limit", "out of memory");
  for (int i = 0; i < job.files; i++) job.order[i] = i;
  for (int i = 0; i < count; i++) {
    struct worker *w = &workers[i];
    w->job = &job;
    w->random = 0x9E3779B97F4A7C15ull * ((uint64_t)i + 1);
    w->decoder.err = jpeg_std_error(&w->errors);
    w->errors.error_exit = on_error;
    w->errors.emit_message = on_warning;
    jpeg_create_decompress(&w->decoder);
  }
  run(&job, workers, count, 2);
  printf("{\"versions\": {\"libjpeg-turbo\": \"%s\"}, ", TEXT(LIBJPEG_TURBO_VERSION));
  printf("\"sample\": {\"shape\": [%d, %d, %d, 3], \"dtype\": \"float32\", \"mean\": %f}}\n", BATCH, SIDE, SIDE,
         mean(job.batches));
  for (int turn = 0; turn <= turns; turn++) {
    fflush(stdout);
    kill(0, SIGSTOP);
    if (turn == turns) break;
    run(&job, workers, count, epochs);
    printf("{\"images\": %d}\n", job.pictures * epochs);
  }
  return 0;
}
