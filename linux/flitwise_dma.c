// SPDX-License-Identifier: GPL-2.0
/*
 * Driver of the descriptor ring (docs/descriptor_ring.md of the simulator): memory of the device as
 * /dev/flitwiseN, of which dd and cp read and write any part. Every piece is copied by the device.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/uaccess.h>

#define VENDOR 0xf17d
#define DEVICE 0x0001

#define ENTRIES 64 /* of the ring, each with a buffer */
#define BUFFER_BYTES 0x10000
#define PATIENCE_MS 1000

/* Registers, from RING on in BAR 0 */
#define RING 0x1000
#define RING_ID 0x00
#define RING_CONTROL 0x04
#define RING_VECTOR 0x0c
#define RING_BASE 0x10
#define RING_ENTRIES 0x18
#define RING_TAIL 0x1c
#define RING_MEMORY 0x24
#define ID_VALUE 0x31525746 /* "FWR1" */

#define TO_DEVICE 1
#define FROM_DEVICE 2
#define INTERRUPTS 4
#define STATUS_DONE 1

struct flitwise_descriptor {
	__le64 host, device;
	__le32 bytes, flags;
	__le64 unused[3];
	__le32 status, copied, waited_ns, busy_ns; /* written by the device */
};
static_assert(sizeof(struct flitwise_descriptor) == 64);

static unsigned int block = 4096;
module_param(block, uint, 0644);
MODULE_PARM_DESC(block, "Bytes of a descriptor, up to 65536");
static unsigned int depth = 16;
module_param(depth, uint, 0644);
MODULE_PARM_DESC(depth, "Descriptors in flight, up to 64");
static bool poll;
module_param(poll, bool, 0644);
MODULE_PARM_DESC(poll, "Look at the descriptor in memory every microsecond in place of interrupts");

struct flitwise_times {
	u64 count, bytes, sum_ns, min_ns, max_ns, waited_ns, busy_ns;
};

struct flitwise_dma {
	struct pci_dev *pdev;
	void __iomem *regs;
	struct flitwise_descriptor *ring;
	dma_addr_t ring_address;
	void *buffers[ENTRIES];
	dma_addr_t addresses[ENTRIES];
	u64 begun_ns[ENTRIES];
	u32 head, tail; /* descriptors that are done, and handed over: they count on */
	u64 memory;
	struct mutex lock;
	wait_queue_head_t done;
	struct miscdevice misc;
	struct flitwise_times times;
};

static atomic_t devices = ATOMIC_INIT(0);

/* Begins anew: what the device had is of no concern to it any more. */
static void start(struct flitwise_dma *dma)
{
	iowrite32(0, dma->regs + RING_CONTROL);
	dma->head = dma->tail = 0;
	iowrite32(lower_32_bits(dma->ring_address), dma->regs + RING_BASE);
	iowrite32(upper_32_bits(dma->ring_address), dma->regs + RING_BASE + 4);
	iowrite32(ENTRIES, dma->regs + RING_ENTRIES);
	iowrite32(0, dma->regs + RING_VECTOR);
	iowrite32(1, dma->regs + RING_CONTROL);
}

static u32 status_of(const struct flitwise_descriptor *descriptor)
{
	return le32_to_cpu(READ_ONCE(descriptor->status));
}

static irqreturn_t interrupted(int irq, void *context)
{
	struct flitwise_dma *dma = context;

	wake_up(&dma->done);
	return IRQ_HANDLED;
}

/* Waits for the oldest descriptor in flight, and books its times. */
static int complete_one(struct flitwise_dma *dma)
{
	u32 entry = dma->head % ENTRIES;
	struct flitwise_descriptor *descriptor = &dma->ring[entry];
	struct flitwise_times *times = &dma->times;
	u64 took;
	int tries;

	if (poll)
		for (tries = PATIENCE_MS * 1000; !status_of(descriptor) && tries; tries--)
			udelay(1);
	else
		wait_event_timeout(dma->done, status_of(descriptor), msecs_to_jiffies(PATIENCE_MS));
	took = ktime_get_ns() - dma->begun_ns[entry];
	if (status_of(descriptor) != STATUS_DONE) {
		dev_err(&dma->pdev->dev, "copy of %u bytes at %llx: %s, status %u\n",
			le32_to_cpu(descriptor->bytes), le64_to_cpu(descriptor->device),
			status_of(descriptor) ? "refused" : "no answer", status_of(descriptor));
		return -EIO;
	}
	dma_rmb();
	dma->head++;
	times->min_ns = times->count ? min(times->min_ns, took) : took;
	times->max_ns = max(times->max_ns, took);
	times->count++;
	times->bytes += le32_to_cpu(descriptor->copied);
	times->sum_ns += took;
	times->waited_ns += le32_to_cpu(descriptor->waited_ns);
	times->busy_ns += le32_to_cpu(descriptor->busy_ns);
	return 0;
}

/* The buffer of the next entry is filled, where something goes to the device. */
static void hand_over(struct flitwise_dma *dma, u64 device, u32 bytes, u32 direction)
{
	u32 entry = dma->tail % ENTRIES;
	struct flitwise_descriptor *descriptor = &dma->ring[entry];

	memset(descriptor, 0, sizeof(*descriptor));
	descriptor->host = cpu_to_le64(dma->addresses[entry]);
	descriptor->device = cpu_to_le64(device);
	descriptor->bytes = cpu_to_le32(bytes);
	descriptor->flags = cpu_to_le32(direction | (poll ? 0 : INTERRUPTS));
	dma_wmb();
	dma->begun_ns[entry] = ktime_get_ns();
	iowrite32(++dma->tail, dma->regs + RING_TAIL);
}

/* Pieces of `block` bytes, `depth` of them in flight; one of `from` and `to` is there. */
static ssize_t copy(struct flitwise_dma *dma, const char __user *from, char __user *to, size_t count,
		    loff_t at)
{
	const u32 piece = clamp(block, 1U, BUFFER_BYTES), most = clamp(depth, 1U, ENTRIES);
	size_t given = 0, over = 0;
	int ret = 0;

	while (over < count && !ret) {
		u32 bytes;

		if (given < count && dma->tail - dma->head < most) {
			bytes = min_t(size_t, count - given, piece);
			if (from && copy_from_user(dma->buffers[dma->tail % ENTRIES], from + given, bytes)) {
				ret = -EFAULT;
				break;
			}
			hand_over(dma, at + given, bytes, from ? TO_DEVICE : FROM_DEVICE);
			given += bytes;
			continue;
		}
		bytes = min_t(size_t, count - over, piece);
		ret = complete_one(dma);
		if (!ret && to && copy_to_user(to + over, dma->buffers[(dma->head - 1) % ENTRIES], bytes))
			ret = -EFAULT;
		if (!ret)
			over += bytes;
	}
	if (ret)
		start(dma);
	return over ? over : ret;
}

static struct flitwise_dma *dma_of(struct file *file)
{
	return container_of(file->private_data, struct flitwise_dma, misc);
}

static ssize_t access_device(struct file *file, const char __user *from, char __user *to, size_t count,
			     loff_t *at)
{
	struct flitwise_dma *dma = dma_of(file);
	ssize_t ret;

	if (*at >= dma->memory)
		return from && count ? -ENOSPC : 0;
	count = min_t(u64, count, dma->memory - *at);
	if (mutex_lock_interruptible(&dma->lock))
		return -ERESTARTSYS;
	ret = copy(dma, from, to, count, *at);
	mutex_unlock(&dma->lock);
	if (ret > 0)
		*at += ret;
	return ret;
}

static ssize_t flitwise_read(struct file *file, char __user *to, size_t count, loff_t *at)
{
	return access_device(file, NULL, to, count, at);
}

static ssize_t flitwise_write(struct file *file, const char __user *from, size_t count, loff_t *at)
{
	return access_device(file, from, NULL, count, at);
}

static loff_t flitwise_llseek(struct file *file, loff_t offset, int whence)
{
	return fixed_size_llseek(file, offset, whence, dma_of(file)->memory);
}

static const struct file_operations flitwise_files = {
	.owner = THIS_MODULE,
	.read = flitwise_read,
	.write = flitwise_write,
	.llseek = flitwise_llseek,
};

/* Of a descriptor, from the doorbell until software knows that it is done; and of that, what the
 * device waited for it and worked on it. A write of anything begins anew. */
static ssize_t latency_show(struct device *dev, struct device_attribute *attr, char *text)
{
	const struct flitwise_dma *dma = dev_get_drvdata(dev);
	const struct flitwise_times *times = &dma->times;
	const u64 count = max(times->count, 1ULL);

	return sysfs_emit(text,
			  "copies %llu\nbytes %llu\nmean_ns %llu\nmin_ns %llu\nmax_ns %llu\n"
			  "device_waited_ns %llu\ndevice_busy_ns %llu\n",
			  times->count, times->bytes, times->sum_ns / count, times->min_ns, times->max_ns,
			  times->waited_ns / count, times->busy_ns / count);
}

static ssize_t latency_store(struct device *dev, struct device_attribute *attr, const char *text,
			     size_t count)
{
	struct flitwise_dma *dma = dev_get_drvdata(dev);

	mutex_lock(&dma->lock);
	memset(&dma->times, 0, sizeof(dma->times));
	mutex_unlock(&dma->lock);
	return count;
}
static DEVICE_ATTR_RW(latency);

static ssize_t memory_bytes_show(struct device *dev, struct device_attribute *attr, char *text)
{
	const struct flitwise_dma *dma = dev_get_drvdata(dev);

	return sysfs_emit(text, "%llu\n", dma->memory);
}
static DEVICE_ATTR_RO(memory_bytes);

static struct attribute *flitwise_attrs[] = { &dev_attr_latency.attr, &dev_attr_memory_bytes.attr,
					      NULL };
ATTRIBUTE_GROUPS(flitwise);

static int allocate(struct flitwise_dma *dma)
{
	struct device *dev = &dma->pdev->dev;
	int i;

	dma->ring = dmam_alloc_coherent(dev, ENTRIES * sizeof(*dma->ring), &dma->ring_address, GFP_KERNEL);
	if (!dma->ring)
		return -ENOMEM;
	for (i = 0; i < ENTRIES; i++) {
		dma->buffers[i] = dmam_alloc_coherent(dev, BUFFER_BYTES, &dma->addresses[i], GFP_KERNEL);
		if (!dma->buffers[i])
			return -ENOMEM;
	}
	return 0;
}

static int flitwise_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct device *dev = &pdev->dev;
	struct flitwise_dma *dma = devm_kzalloc(dev, sizeof(*dma), GFP_KERNEL);
	int ret;

	if (!dma)
		return -ENOMEM;
	dma->pdev = pdev;
	mutex_init(&dma->lock);
	init_waitqueue_head(&dma->done);
	pci_set_drvdata(pdev, dma);
	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	dma->regs = pcim_iomap(pdev, 0, 0);
	if (!dma->regs)
		return -ENOMEM;
	dma->regs += RING;
	if (ioread32(dma->regs + RING_ID) != ID_VALUE)
		return dev_err_probe(dev, -ENODEV, "no descriptor ring\n");
	dma->memory = ioread32(dma->regs + RING_MEMORY) | (u64)ioread32(dma->regs + RING_MEMORY + 4) << 32;
	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (!ret)
		ret = allocate(dma);
	if (ret)
		return ret;
	pci_set_master(pdev);
	ret = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	ret = request_irq(pci_irq_vector(pdev, 0), interrupted, 0, "flitwise", dma);
	if (ret)
		goto free_vectors;
	start(dma);
	dma->misc.minor = MISC_DYNAMIC_MINOR;
	dma->misc.name = devm_kasprintf(dev, GFP_KERNEL, "flitwise%d", atomic_inc_return(&devices) - 1);
	dma->misc.fops = &flitwise_files;
	dma->misc.parent = dev;
	ret = dma->misc.name ? misc_register(&dma->misc) : -ENOMEM;
	if (ret)
		goto free_irq;
	dev_info(dev, "%llu KiB as /dev/%s\n", dma->memory >> 10, dma->misc.name);
	return 0;

free_irq:
	free_irq(pci_irq_vector(pdev, 0), dma);
free_vectors:
	pci_free_irq_vectors(pdev);
	return ret;
}

static void flitwise_remove(struct pci_dev *pdev)
{
	struct flitwise_dma *dma = pci_get_drvdata(pdev);

	misc_deregister(&dma->misc);
	iowrite32(0, dma->regs + RING_CONTROL);
	ioread32(dma->regs + RING_ID); /* behind this nothing of the ring is under way to memory */
	free_irq(pci_irq_vector(pdev, 0), dma);
	pci_free_irq_vectors(pdev);
}

static void flitwise_reset_done(struct pci_dev *pdev)
{
	struct flitwise_dma *dma = pci_get_drvdata(pdev);

	mutex_lock(&dma->lock);
	start(dma);
	mutex_unlock(&dma->lock);
}

static const struct pci_error_handlers flitwise_errors = { .reset_done = flitwise_reset_done };

static const struct pci_device_id flitwise_ids[] = { { PCI_DEVICE(VENDOR, DEVICE) }, {} };
MODULE_DEVICE_TABLE(pci, flitwise_ids);

static struct pci_driver flitwise_driver = {
	.name = "flitwise",
	.id_table = flitwise_ids,
	.probe = flitwise_probe,
	.remove = flitwise_remove,
	.sriov_configure = pci_sriov_configure_simple,
	.err_handler = &flitwise_errors,
	.dev_groups = flitwise_groups,
};
module_pci_driver(flitwise_driver);

MODULE_DESCRIPTION("Descriptor ring of the flitwise simulator");
MODULE_LICENSE("GPL");
