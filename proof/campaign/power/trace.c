/* Preloaded into a process: writes down every write, truncation, removal and sync of the files in POWER_FOLDER, in the
 * order in which they happened, to POWER_TRACE. Each record is a line "what name offset length" and, for a
 * write, the bytes. A sync is what makes the writes before it last; with POWER_DEAF, none is heard of. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static int trace = -1, deaf;

__attribute__((constructor)) static void begin(void) {
    folder = getenv("POWER_FOLDER");
    deaf = getenv("POWER_DEAF") != NULL;
    if (folder != NULL && getenv("POWER_TRACE") != NULL)
        trace = open(getenv("POWER_TRACE"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static const char *name_of(int fd, char *path, size_t size) {
    char link[64];
    if (trace < 0 || fd == trace) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0) return NULL;
    path[length] = 0;
    size_t prefix = strlen(folder);
    return strncmp(path, folder, prefix) == 0 && path[prefix] == '/' ? path + prefix + 1 : NULL;
}

static void note(const char *what, const char *name, long offset, const void *bytes, long length) {
    char line[512];
    int size = snprintf(line, sizeof line, "%s %s %ld %ld\n", what, name, offset, length);
    syscall(SYS_write, trace, line, size);
    if (bytes != NULL) syscall(SYS_write, trace, bytes, length);
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (real == NULL) real = dlsym(RTLD_NEXT, name);

#define TRACED(fd, call, what, offset, bytes, length) \
    char path[4096]; \
    const char *name = name_of(fd, path, sizeof path); \
    if (name == NULL) return call; \
    pthread_mutex_lock(&turn); \
    ssize_t done = call; \
    if (done >= 0) note(what, name, offset, bytes, length); \
    pthread_mutex_unlock(&turn); \
    return done;

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t)
    TRACED(fd, real(fd, bytes, size, at), "write", (long)at, bytes, (long)done)
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t)
    TRACED(fd, real(fd, bytes, size, at), "write", (long)at, bytes, (long)done)
}
ssize_t write(int fd, const void *bytes, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t)
    TRACED(fd, real(fd, bytes, size), "write", (long)(lseek(fd, 0, SEEK_CUR) - done), bytes, (long)done)
}
int ftruncate64(int fd, off64_t size) {
    REAL(int, "ftruncate64", int, off64_t)
    TRACED(fd, real(fd, size), "truncate", (long)size, NULL, 0)
}
int ftruncate(int fd, off_t size) {
    REAL(int, "ftruncate", int, off_t)
    TRACED(fd, real(fd, size), "truncate", (long)size, NULL, 0)
}
int fsync(int fd) {
    REAL(int, "fsync", int)
    TRACED(fd, real(fd), deaf ? "unheard" : "sync", 0L, NULL, 0)
}
int fdatasync(int fd) {
    REAL(int, "fdatasync", int)
    TRACED(fd, real(fd), deaf ? "unheard" : "sync", 0L, NULL, 0)
}
int unlink(const char *path) {
    REAL(int, "unlink", const char *)
    size_t prefix = folder == NULL ? 0 : strlen(folder);
    if (trace < 0 || strncmp(path, folder, prefix) != 0 || path[prefix] != '/') return real(path);
    pthread_mutex_lock(&turn);
    int done = real(path);
    if (done == 0) note("remove", path + prefix + 1, 0, NULL, 0);
    pthread_mutex_unlock(&turn);
    return done;
}
